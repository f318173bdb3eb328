"""collect and replay --param: a run on a chip with other numbers, and what is time at another clock."""

import numpy as np
import pytest

from gpuprof.records.reader import read_recording
from tests.support.command import gpuprof, masked, write_files

# One thread goes from word to word, 48 KB apart, each in another row of the DRAM: 32 and 128 steps, first through lines
# that nobody has read, then through the same lines again, which are in the L2.
CHASE = """\
// LAUNCH: chase<<<1, 1>>>(a: i32[1572864]=steps.npy, y: i32[1], 32)
// LAUNCH: chase<<<1, 1>>>(b: i32[1572864]=steps.npy, y, 128)
// LAUNCH: chase<<<1, 1>>>(a, y, 32)
// LAUNCH: chase<<<1, 1>>>(b, y, 128)
__global__ void chase(const int *next, int *out, int turns)
{
    int at = 0;
    for (int i = 0; i < turns; i++) at = __ldcg(next + at);
    *out = at;
}
"""
SCRIPT = """\
import gpuprof

gpu = gpuprof.Device("t4")
assert gpuprof.Device("t4").chip == gpu.chip
print(gpu.chip.name, gpu.chip.sms)
gpu.load("chase.cu").chase[1, 1](gpu.device_array(4096, "i4"), gpu.device_array(1, "i4"), 3)
"""


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "steps.npy", np.roll(np.arange(1572864, dtype=np.int32), -12288))
    return write_files(tmp_path, {"chase.cu": CHASE, "script.py": SCRIPT})


def cycles_per_step(folder, *flags: str) -> tuple[float, float]:
    """Of a dependent load from the DRAM, and of one from the L2."""
    code, out, error = gpuprof(folder, "collect", "chase.cu", "--cache", "keep", *flags)
    assert (code, error) == (0, "")
    short_dram, long_dram, short_l2, long_l2 = (
        int(line.split()[2].replace(",", "")) for line in out.splitlines() if " cycles " in line
    )
    return (long_dram - short_dram) / 96, (long_l2 - short_l2) / 96


def test_at_another_clock_the_drams_nanoseconds_and_the_l2s_cycles_stay(folder):
    """An A100's load from the DRAM takes 148 cycles more than one from the far half of the L2: 105 ns at 1410 MHz, and
    105 ns are 74 cycles at 705 MHz.
    """
    dram, l2 = cycles_per_step(folder)
    slow_dram, slow_l2 = cycles_per_step(folder, "--param", "clock_mhz=705")
    assert slow_l2 == l2
    assert dram - slow_dram == pytest.approx(148 - 74, abs=0.5)


def test_the_recording_the_report_and_a_replay_name_the_changed_chip(folder):
    flags = ("--param", "clock_mhz=1095", "--param", "sms=54")
    assert gpuprof(folder, "collect", "chase.cu", *flags, "--save-stream", "-o", "a.gprec")[::2] == (0, "")
    assert read_recording(folder / "a.gprec").meta["command"].endswith("--param clock_mhz=1095 --param sms=54")
    head = gpuprof(folder, "report", "a.gprec", "--page", "summary")[1]
    assert "a100 (clock_mhz=1095, sms=54)" in head and "no published figures of this chip" in head
    assert gpuprof(folder, "replay", "a.gprec", "-o", "b.gprec")[::2] == (0, "")
    assert gpuprof(folder, "replay", "a.gprec", "--chip", "t4", "--param", "l2_kb=512", "-o", "c.gprec")[::2] == (0, "")
    chips = [read_recording(folder / f"{name}.gprec").chip for name in "abc"]
    assert [(chip["name"], chip["clock_mhz"], chip["sms"]) for chip in chips] == [
        ("a100 (clock_mhz=1095, sms=54)", 1095, 54),
        ("a100 (clock_mhz=1095, sms=54)", 1095, 54),
        ("t4 (l2_kb=512)", 1590, 40),
    ]


def test_several_passes_are_of_one_changed_chip(folder):
    assert gpuprof(folder, "collect", "chase.cu", "--param", "sms=5", "--passes", "2")[::2] == (0, "")
    assert read_recording(folder / "chase.gprec").chip["name"] == "a100 (sms=5)"


def test_a_script_that_names_its_chip(folder):
    code, out, error = gpuprof(folder, "collect", "script.py", "--param", "sms=5")
    assert (code, masked(out), error) == (
        0,
        "t4 (sms=5) 5\n"
        "chase<<<1, 1>>>  N cycles  N warp instructions  N samples\n"
        "N samples of 1 launch -> script.gprec\n",
        "",
    )


@pytest.mark.parametrize(
    "flags, message",
    [
        (["clock_mhz"], "--param clock_mhz: expected NAME=VALUE as in clock_mhz=1095"),
        (["sms=1,2"], "--param sms=1,2: expected NAME=VALUE as in clock_mhz=1095"),
        (["sms=1", "sms=2"], "--param sms=2: sms is given twice"),
        (["l2_kb=2048", "l2_mb=2"], "chip a100 with --param l2_kb=2048 --param l2_mb=2: l2_nbytes is given twice"),
        (["clock=1"], "chip a100 with --param clock=1: unknown key 'clock'"),
        (["sms=0"], "chip a100 with --param sms=0: sms is 0, but only 1 to 1024 SMs make sense"),
    ],
)
def test_what_is_refused(folder, flags, message):
    code, out, error = gpuprof(folder, "collect", "chase.cu", *(word for flag in flags for word in ("--param", flag)))
    assert (code, out) == (2, "") and error.startswith(f"gpuprof: {message}"), error
    assert not (folder / "chase.gprec").exists()
