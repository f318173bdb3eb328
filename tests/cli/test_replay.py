"""collect --passes, --save-stream and --load-base, gpuprof replay and gpuprof merge, as users run them."""

import os
from pathlib import Path
from socket import gethostname

import pytest

import gpuprof.run.multipass
from gpuprof.records.chunk_stream import read_chunks
from gpuprof.records.command_stream.read import read_stream
from gpuprof.records.reader import read_recording
from gpuprof.tables.launch import COUNTERS, LEDGER
from gpuprof.tables.samples import SAMPLED_COUNTERS
from tests.paths import SAMPLES
from tests.support.command import gpuprof as run, masked, names, write_files
from tests.support.matrices import long_from

KERNELS = """\
#include <cstdio>
// LAUNCH: work<<<16, 128>>>(x: f32[2048]=random, 20)
// LAUNCH: work<<<4, 64, 0, 1>>>(y: f32[256]=ones, 30)
// LAUNCH: work<<<8, 64, 0, 2>>>(z: f32[512]=random, 10)
// LAUNCH: show<<<1, 1>>>(y, 9)
__global__ void work(float *x, int n)
{
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int i = 0; i < n; i++) v = v * 0.5f + 1;
    x[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
__global__ void show(const float *x, int i) { printf("x[%d] = %f\\n", i, x[i]); }
"""
SCRIPT = """\
import numpy as np
import gpuprof

gpu = gpuprof.Device("t4")
mod = gpu.load("kernels.cu")
x = gpu.to_device(np.linspace(0, 1, 4096, dtype=np.float32))
mod.work[32, 128](x, 30)
gpu.sampler.set(period_cycles=64)
with gpu.task("second"):
    mod.work[32, 128](x, 30)
if not 0 < x.copy_to_host()[7] < 3:
    raise SystemExit("wrong")
print("the host")
"""


@pytest.fixture
def folder(tmp_path):
    return write_files(tmp_path, {"kernels.cu": KERNELS, "script.py": SCRIPT})


def told(folder: Path, *arguments: str) -> str:
    """stdout, of a run that goes well."""
    code, out, error = run(folder, *arguments)
    assert (code, error) == (0, ""), error
    return out


def refused(folder: Path, code: int, *arguments: str) -> str:
    """The one line of stderr, of a run that does not."""
    before = names(folder)
    found, _, error = run(folder, *arguments)
    assert found == code and error.startswith("gpuprof: ") and error.count("\n") == 1
    assert names(folder) == before
    return error.removeprefix("gpuprof: ").removesuffix("\n")


def test_a_stream_states_the_limit_of_instructions(folder):
    """A replay has it, unless it gets another one; so do the passes after the first."""
    told(folder, "collect", "kernels.cu", "--save-stream", "--max-instructions", "2^23", "-o", "a.gprec")
    told(folder, "replay", "a.gprec", "--passes", "2", "-o", "b.gprec")
    headers = [read_stream(folder / name).header for name in ("a.gprec", "b.gprec")]
    assert [(header.max_instructions, header.max_cycles) for header in headers] == [(1 << 23, None)] * 2
    code, _, error = run(folder, "replay", "a.gprec", "--max-instructions", "50", "-o", "c.gprec")
    assert code == 1 and "still running after 50 instructions of a warp" in error
    told(folder, "replay", "a.gprec", "--max-instructions", "4000", "-o", "c.gprec")
    assert read_recording(folder / "c.gprec").meta["command"] == "gpuprof replay a.gprec --max-instructions 4000"


def beside_command(path: Path) -> list:
    """All that is in a recording, the command that made it aside."""
    chunks = [(chunk.type, payload) for chunk, payload in read_chunks(path)]
    chunks[0][1].pop("command")
    return [
        (type_, str(payload) if isinstance(payload, dict) else (payload[:-1], bytes(payload[-1])))
        for type_, payload in chunks
    ]


def test_passes_are_merged_replays(folder):
    """One command, or its parts: the same bytes but for the text of the commands. The kernels' output is there once."""
    out = told(folder, "collect", "kernels.cu", "--period", "32", "--passes", "3", "--save-stream", "-o", "whole.gprec")
    assert masked(out).splitlines()[-3:] == [
        "x[9] = 2.000000",
        "show<<<1, 1>>>  N cycles  N warp instructions  N samples",
        "N samples of 4 launches in 3 passes -> whole.gprec",
    ]
    assert out.count("x[9]") == 1
    told(folder, "collect", "kernels.cu", "--period", "32", "--save-stream", "-o", "0.gprec")
    told(folder, "replay", "0.gprec", "--seed", "1", "--phase", "10", "-o", "1.gprec")
    told(folder, "replay", "0.gprec", "--seed", "2", "--phase", "21", "-o", "2.gprec")
    assert masked(told(folder, "merge", "0.gprec", "1.gprec", "2.gprec", "-o", "merged.gprec")) == (
        "N samples of 4 launches in 3 passes -> merged.gprec\n"
    )
    assert beside_command(folder / "merged.gprec") == beside_command(folder / "whole.gprec")
    assert read_recording(folder / "merged.gprec").meta["command"] == (
        "gpuprof collect kernels.cu --period 32; gpuprof replay 0.gprec --seed 1 --phase 10; gpuprof replay 0.gprec "
        "--seed 2 --phase 21"
    )
    told(folder, "replay", "whole.gprec")
    assert beside_command(folder / "whole-replay.gprec") == beside_command(folder / "whole.gprec")
    told(folder, "collect", "kernels.cu", "--period", "32", "--passes", "3", "-o", "plain.gprec")
    plain = [chunk for chunk in beside_command(folder / "whole.gprec") if chunk[0] != b"STRM"]
    assert beside_command(folder / "plain.gprec") == plain
    assert names(folder) == sorted(
        [
            "kernels.cu",
            "script.py",
            *(f"{name}.gprec" for name in ("0", "1", "2", "merged", "plain", "whole", "whole-replay")),
        ]
    )


def test_a_script_is_replayed_without_it(folder):
    """On its own chip, with the sampler that it sets; and with another, which then holds throughout."""
    assert "the host" in told(folder, "collect", "script.py", "--save-stream")
    original = read_recording(folder / "script.gprec")
    (folder / "script.py").unlink()
    (folder / "kernels.cu").unlink()
    assert "the host" not in told(folder, "replay", "script.gprec")
    assert beside_command(folder / "script-replay.gprec") == beside_command(folder / "script.gprec")
    assert original.launches[1].begin["sampling"]["period_cycles"] == 64
    told(folder, "replay", "script.gprec", "--period", "128", "--mode", "all", "-o", "other.gprec")
    other = read_recording(folder / "other.gprec")
    assert [launch.begin.get("sampling") for launch in other.launches.values()] == [None, None]
    assert (other.meta["sampling"]["period_cycles"], other.chip["name"]) == (128, "t4")
    for number, launch in other.launches.items():
        assert set(launch.samples["cycle"] % 128) == {0}
        assert launch.rows[LEDGER].tolist() == original.launches[number].rows[LEDGER].tolist()
    told(folder, "replay", "script.gprec", "--chip", "h200", "--record", "compact", "-o", "h200.gprec")
    moved = read_recording(folder / "h200.gprec")
    assert moved.chip["name"] == "h200" and moved.launches[0].samples.dtype.itemsize == 8
    assert [launch.rows[COUNTERS].tolist() for launch in moved.launches.values()] == [
        launch.rows[COUNTERS].tolist() for launch in original.launches.values()
    ]


def test_passes_of_a_script_that_sets_the_sampler(folder):
    """Pass k of 2 is half a period later, whatever the period is."""
    told(folder, "collect", "script.py", "--period", "32", "--passes", "2")
    recording = read_recording(folder / "script.gprec")
    for number, period in ((0, 32), (1, 64)):
        cycles = recording.launches[number].samples["cycle"]
        assert set(cycles % period) == {0, period // 2} and (cycles[1:] >= cycles[:-1]).all()
    assert ", 2 passes, " in told(folder, "report", "script.gprec")


def test_load_bases(folder):
    told(folder, "collect", "kernels.cu", "--load-base", "0x200000", "-o", "a.gprec")
    recording = read_recording(folder / "a.gprec")
    assert recording.modules[0].fields["load_base"] == 0x200000
    assert recording.meta["command"].endswith(" --load-base 0x200000")
    bases = set()
    for seed in ("1", "2", "2"):
        told(folder, "collect", "kernels.cu", "--load-base", "random", "--seed", seed, "--save-stream", "-o", "b.gprec")
        bases.add(read_recording(folder / "b.gprec").modules[0].fields["load_base"])
    assert len(bases) == 2
    told(folder, "replay", "b.gprec", "--load-base", "0x200000", "-o", "c.gprec")
    assert read_recording(folder / "c.gprec").modules[0].fields["load_base"] == 0x200000


def test_merging_over_a_file_that_is_there(folder):
    """It stays as NAME.old. Recordings that follow each other have no stream together, and the command says whose is
    left out.
    """
    for name, n in (("a", "20"), ("plain", "5")):
        stream = [] if name == "plain" else ["--save-stream"]
        told(
            folder,
            "collect",
            "kernels.cu",
            "--launch",
            f"work<<<1, 32>>>(f32[32], {n})",
            "-o",
            f"{name}.gprec",
            *stream,
        )
    before = (folder / "a.gprec").read_bytes()
    code, out, error = run(folder, "merge", "a.gprec", "plain.gprec", "-o", "a.gprec")
    assert (code, out.endswith(" of 2 launches -> a.gprec\n")) == (0, True)
    assert (
        error
        == "gpuprof: a.gprec has no command stream: each stream of a.gprec is one run; keep these files to replay "
        "them\n"
    )
    assert (folder / "a.gprec.old").read_bytes() == before
    assert not read_recording(folder / "a.gprec").has_stream
    assert {"a.gprec", "a.gprec.old", "plain.gprec"} == {name for name in names(folder) if "gprec" in name}


def test_a_replayed_recording_has_the_stream(folder):
    """Always, so that `replay` has no flag for it."""
    told(folder, "collect", "kernels.cu", "--launch", "work<<<1, 32>>>(f32[32], 20)", "--save-stream", "-o", "a.gprec")
    told(folder, "replay", "a.gprec", "-o", "b.gprec")
    assert beside_command(folder / "b.gprec") == beside_command(folder / "a.gprec")
    assert read_recording(folder / "b.gprec").has_stream
    assert refused(folder, 2, "replay", "a.gprec", "--save-stream").startswith("no such option '--save-stream'")


def test_what_a_killed_pass_left_goes(folder):
    """The second pass of a run that is no more; that of one that is, and of another recording, stay."""
    others = [f".kernels.gprec.{gethostname()}.{os.getppid()}.pass2", f".other.gprec.{gethostname()}.999999999.pass2"]
    write_files(folder, dict.fromkeys([*others, f".kernels.gprec.{gethostname()}.999999999.pass2"], "half"))
    told(folder, "collect", "kernels.cu", "--launch", "work<<<1, 32>>>(f32[32], 20)")
    assert [name for name in names(folder) if "pass" in name] == sorted(others)


def test_an_interrupt_in_a_later_pass(folder, monkeypatch):
    """The passes before are there, and the recording says that there were to be more."""
    replay, finished = gpuprof.run.multipass.replay, []

    def interrupted(*arguments, number, **others):
        replay(*arguments, number=number, **others)
        finished.append(number)
        if number == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(gpuprof.run.multipass, "replay", interrupted)
    code, _, error = run(folder, "collect", "kernels.cu", "--passes", "4")
    assert (code, error.strip(), finished) == (130, "gpuprof: interrupted", [1, 2])
    recording = read_recording(folder / "kernels.gprec")
    assert (recording.complete, recording.damage) == (False, None)
    assert recording.marks[-1]["text"] == "interrupted in pass 3 of 4"
    assert recording.meta["sampling"]["pass_seeds"] == "0+0 1+64"
    assert all(len(launch.samples) == launch.end["samples_kept"] for launch in recording.launches.values())
    assert names(folder) == ["kernels.cu", "kernels.gprec", "script.py"]


def test_an_interrupt_in_the_second_pass(folder, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(gpuprof.run.multipass, "replay", interrupted)
    assert run(folder, "collect", "kernels.cu", "--passes", "2")[0] == 130
    recording = read_recording(folder / "kernels.gprec")
    assert recording.marks[-1]["text"] == "interrupted in pass 2 of 2"
    assert (len(recording.launches), recording.meta["sampling"].get("passes"), recording.has_stream) == (4, None, False)


def test_what_cannot_be_done(folder):
    told(folder, "collect", "kernels.cu", "-o", "plain.gprec")
    told(folder, "collect", "kernels.cu", "--save-stream", "-o", "saved.gprec")
    for code, words, message in (
        (4, "replay plain.gprec", "plain.gprec: no command stream is saved in it: collect with --save-stream"),
        (2, "replay none.gprec", "none.gprec: there is no such file"),
        (1, "replay kernels.cu", "kernels.cu: is not a gpuprof recording (.gprec)"),
        (2, "replay saved.gprec -o saved.gprec", "saved.gprec: is read by this command; give another name"),
        (2, "replay saved.gprec --period 31", "sampling period 31: it must be 0 (off) or 32 to 2147483648 cycles"),
        (2, "collect kernels.cu --passes 2 --period 0", "2 passes with sampling off would all be the same; give "
            "--period"),
        (2, "collect kernels.cu --passes 2 --period auto", "2 passes with --period auto: each may find another period; "
            "give the period that a single pass finds"),
        (2, "collect kernels.cu --passes 2 --stream lsu", "2 passes with --stream lsu: samples disturb each pass "
            "differently; use --stream aux"),
        (2, "collect kernels.cu --load-base 0x1001", "load base 0x1001: it must be a multiple of 0x1000 between 0x1000 "
            "and 0xfffff000"),
        (2, "merge saved.gprec -o x.gprec", "saved.gprec: is the only recording; give two or more to merge"),
        (4, "merge saved.gprec plain.gprec -o x.gprec", "plain.gprec and saved.gprec: the same launches, sampled with "
            "the same seed 0 and phase 0, so the samples are the same, too; replay one of them with another --seed or "
            "--phase"),
    ):  # fmt: skip
        assert refused(folder, code, *words.split()) == message
    assert "invalid value for '--load-base': 'here' is no address, such as 0x200000, and not random" in refused(
        folder, 2, "collect", "kernels.cu", "--load-base", "here"
    )


def test_a_chip_that_is_too_small(folder):
    """What the first chip allows and the second does not is an error, with the launch's kernel and the limit."""
    write_files(
        folder,
        {
            "large.cu": "__global__ void large() { extern __shared__ int s[]; s[threadIdx.x] = 1; }\n// LAUNCH: "
            "large<<<1, 32, 150000>>>()\n"
        },
    )
    told(folder, "collect", "large.cu", "--chip", "h200", "--save-stream")
    assert refused(folder, 2, "replay", "large.gprec", "--chip", "t4") == (
        "large: 150000 bytes of shared memory per block (0 static, 150000 dynamic); t4 allows 65536"
    )


def test_a_run_that_was_stopped_is_not_replayed(folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("gpuprof.run.session.Session.finish", interrupted)
    assert run(folder, "collect", "kernels.cu", "--save-stream")[0] == 130
    assert refused(folder, 1, "replay", "kernels.gprec") == (
        "kernels.gprec: its command stream has no end: the run was stopped; collect it again"
    )


SORT = """
// LAUNCH: sort<<<1, 1>>>(x: i32[60]=random, 60)
__global__ void sort(int *x, int n)
{
    if (n <= 8) return;
    int pivot = x[n / 2], i = 0, j = n - 1;
    while (i <= j) {
        while (x[i] < pivot) i++;
        while (x[j] > pivot) j--;
        if (i <= j) { int t = x[i]; x[i] = x[j]; x[j] = t; i++; j--; }
    }
    sort<<<1, 1, 0, cudaStreamFireAndForget>>>(x, j + 1);
    sort<<<1, 1, 0, cudaStreamFireAndForget>>>(x + i, n - i);
}
"""
SMALL_CHIP = 'inherits = "a100"\nsms = 2\n'
SAXPY = "saxpy<<<2048, 256>>>(524288, 2.0, f32[524288]=random, f32[524288])"


FAULT = """\
import numpy as np
import gpuprof
from gpuprof.errors import KernelFault

gpu = gpuprof.Device("t4")
mod = gpu.load("kernels.cu")
x = gpu.device_array(128, np.float32)
try:
    mod.work[2, 128](x, 3)
except KernelFault:
    mod.work[1, 128](x, 3)
"""


@pytest.mark.long
def test_kernels_that_launch_kernels(folder):
    """What kernels launch is no command of the stream, and comes again."""
    write_files(folder, {"sort.cu": SORT})
    told(folder, "collect", "sort.cu", "--save-stream", "--passes", "2")
    assert len(read_recording(folder / "sort.gprec").launches) > 4
    told(folder, "replay", "sort.gprec")
    assert beside_command(folder / "sort-replay.gprec") == beside_command(folder / "sort.gprec")


@pytest.mark.long
def test_some_blocks_of_a_chip_of_ones_own(folder):
    """The recording has the chip's numbers, so that its file is not needed, and knows that not all blocks were
    timed.
    """
    write_files(folder, {"small.toml": SMALL_CHIP, "saxpy.cu": (SAMPLES / "saxpy.cu").read_text()})
    told(folder, "collect", "saxpy.cu", "--chip", "small.toml", "--sample-blocks", "--save-stream", "--launch", SAXPY)
    (folder / "small.toml").unlink()
    assert "blocks" in told(folder, "replay", "saxpy.gprec", "--passes", "2", "-o", "two.gprec").splitlines()[0]
    told(folder, "replay", "saxpy.gprec")
    assert beside_command(folder / "saxpy-replay.gprec") == beside_command(folder / "saxpy.gprec")
    assert read_recording(folder / "two.gprec").marks == read_recording(folder / "saxpy.gprec").marks


def test_a_fault_that_a_script_lives_on_after(folder):
    """Its launch has no end, in a pass and in what the passes make."""
    write_files(folder, {"fault.py": FAULT})
    told(folder, "collect", "fault.py", "--save-stream", "--passes", "2")
    recording = read_recording(folder / "fault.gprec")
    assert [launch.end is None for launch in recording.launches.values()] == [True, False]
    assert len(recording.marks) == 1 and "work" in recording.marks[0]["text"]
    told(folder, "replay", "fault.gprec")
    assert beside_command(folder / "fault-replay.gprec") == beside_command(folder / "fault.gprec")


@pytest.mark.parametrize(
    "flags",
    long_from(
        2, ["--record wide+counters", "--record compact", "--trigger l1_miss:5 --mode trigger", "--mode stalled"]
    ),
)
def test_passes_of_every_kind(folder, flags):
    """Merged, replayed and at once: the same."""
    words = flags.split()
    out = folder / "a.gprec", folder / "b.gprec"
    told(folder, "collect", "kernels.cu", "--chip", "t4", *words, "--passes", "2", "--save-stream", "-o", "a.gprec")
    told(folder, "replay", "a.gprec", "-o", "b.gprec")
    assert beside_command(out[0]) == beside_command(out[1])
    recording = read_recording(out[0])
    n_passes = [recording.meta["sampling"]["passes"], len(recording.meta["sampling"]["pass_seeds"].split())]
    assert n_passes == [2, 2] and sum(len(launch.samples) for launch in recording.launches.values()) > 20
    told(folder, "replay", "a.gprec", "--record", "wide+counters", "--passes", "1", "-o", "b.gprec")
    told(folder, "replay", "b.gprec", "--record", "wide", "-o", "c.gprec")
    with_and_without = [
        read_recording(folder / name).launches[0].rows[SAMPLED_COUNTERS] for name in ("b.gprec", "c.gprec")
    ]
    assert [len(rows) > 0 for rows in with_and_without] == [True, False]
    counted = sum(len(launch.rows[SAMPLED_COUNTERS]) for launch in recording.launches.values())
    assert (counted > 20) == ("counters" in flags)
