"""Changes of a whole program: which are proposed, what they gain when the program runs again, which are withdrawn."""

import re
from dataclasses import replace

import pytest

from gpuprof.device import commands as cmd
from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.records.command_stream.codec import SavedLaunch
from gpuprof.records.command_stream.read import read_stream
from gpuprof.run.program_experiment import candidates, measure_program
from gpuprof.run.stream_run import HostWork, copied_allocations, run_stream, settings_of, with_host_work
from tests.support.command import gpuprof

KERNELS = """\
__global__ void step(float *x, float *y) { y[threadIdx.x] += x[threadIdx.x]; }
__global__ void turns(int n, float *x, float *y)
{
    float value = x[threadIdx.x];
    for (int i = 0; i < n; i++) value = 1.0f - value;
    y[threadIdx.x] += value;
}
__global__ void gather(unsigned long long x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] += ((float *)x)[i];
}
"""
SCRIPT = """\
import numpy as np
import gpuprof
from gpuprof.device import commands as cmd

gpu = gpuprof.Device("a100")
kernels = gpu.load("k.cu")
step, turns, gather = kernels.step, kernels.turns, kernels.gather
x, y, z = (gpu.device_array(1 << 15, np.float32, name=name) for name in "xyz")
one = gpu.stream()
DATA = np.arange(1 << 15, dtype=np.float32)

def pinned(array, data):
    gpu.submit(cmd.CopyIn(array.address, data.tobytes(), one.number, is_pinned=True))

"""
# Short kernels, copies of pageable memory, bytes that the host only keeps for a while.
WASTEFUL = """\
x.copy_to_device(DATA)
for _ in range(20):
    step[1, 32](x, y)
saved = y.copy_to_host()
y.copy_to_device(saved)
x.copy_to_device(DATA + 1)
step[1, 32](x, y)
y.copy_to_device(y.copy_to_host() + 1)
"""
# The copy of z may run while the launch before it does; that of x again may not.
BATCHES = """\
pinned(x, DATA)
turns[1, 32, one](4000, x, y)
pinned({second}, DATA + 1)
turns[1, 32, one](4000, {second}, y)
gpu.synchronize()
y.copy_to_host()
"""
# The host writes managed memory before each of two launches.
MANAGED = """\
there = gpu.submit(cmd.Allocate(DATA.nbytes, "there", memory="managed")).address
for _ in range(2):
    gpu.submit(cmd.HostWrite(there, DATA.tobytes()))
    gpu.submit(cmd.HostTouch(((there, DATA.nbytes),)))
    gather[128, 256](np.uint64(there), y)
gpu.synchronize()
"""
OVERLAPPING, IN_PLACE = (BATCHES.format(second=second) for second in "zx")
GRAPH = "20 launches as a graph, instantiated before"
COPIES = "page-locked memory for 6 copies (786,432 bytes, of y and x)"
BACK = "without 1 copy (131,072 bytes, of y) back to where the bytes came from"


def collect(folder, body: str, *options: str):
    (folder / "k.cu").write_text(KERNELS)
    (folder / "s.py").write_text(SCRIPT + body)
    code, _, error = gpuprof(folder, "collect", "s.py", *options)
    assert code == 0, error
    return folder / "s.gprec"


def related(folder, *options: str) -> list[str]:
    """The lines of the program."""
    code, out, error = gpuprof(folder, "relate", "s.gprec", *options)
    assert (code, error) == (0, "")
    return [line for line in out.splitlines() if not re.match("no two launches|longest chain|as it is", line)]


def masked(line: str) -> str:
    """Without the times, which are the model's."""
    return re.sub(r"\d\.\d\d of the time \([\d,]+ -> [\d,]+ cycles, [\d,.]+ -> [\d,.]+ us\)", "S of the time", line)


@pytest.mark.long
def test_what_a_wasteful_program_could_gain(tmp_path):
    """A run shows which of the two copies back has other bytes."""
    collect(tmp_path, WASTEFUL, "--save-stream")
    assert related(tmp_path) == [
        f"not measured: {GRAPH}",
        f"not measured: {COPIES}",
        "not measured: without 2 copies (262,144 bytes, of y) back to where the bytes came from if the host does not "
        "change the bytes",
    ]
    assert list(map(masked, related(tmp_path, "--measure"))) == [
        f"launch-bound: {GRAPH}: S of the time, the same results",
        f"pageable memory: {COPIES}: S of the time, the same results",
        f"the same bytes go back and forth: {BACK}: S of the time, the same results",
    ]


@pytest.mark.long
def test_managed_memory_that_the_host_has_touched(tmp_path):
    collect(tmp_path, MANAGED, "--save-stream")
    prefetches = "2 prefetches of 262,144 bytes that the host has touched"
    assert related(tmp_path) == [f"not measured: {prefetches}"]
    assert list(map(masked, related(tmp_path, "--measure"))) == [
        f"page faults: {prefetches}: S of the time, the same results"
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    "body, wanted",
    [
        (OVERLAPPING, "copies and kernels could overlap: 1 copy (131,072 bytes, of z) to the device on another stream: "
         "S of the time, the same results"),
        (IN_PLACE, "withdrawn: 1 copy (131,072 bytes, of x) to the device on another stream: the results are others in "
         "another order"),
    ],
    ids=["overlapping", "in place"],
)  # fmt: skip
def test_copies_while_a_launch_runs(tmp_path, body, wanted):
    """The launch before the copy may not read what it overwrites."""
    collect(tmp_path, body, "--save-stream")
    lines = related(tmp_path, "--measure")
    assert [masked(line) for line in lines if "another stream" in line] == [wanted]


LAUNCHED = "// LAUNCH: step<<<1, 32>>>(f32[32], f32[32])\n"


def test_launches_without_a_program_have_no_time_of_one(tmp_path):
    (tmp_path / "k.cu").write_text(KERNELS + LAUNCHED)
    code, _, error = gpuprof(tmp_path, "collect", "k.cu", "--save-stream")
    assert (code, error) == (0, "")
    stream = read_stream(tmp_path / "k.gprec")
    assert (candidates(stream), measure_program(stream)) == ([], None)


def test_no_stream_no_proposals(tmp_path):
    collect(tmp_path, WASTEFUL)
    assert related(tmp_path) == []


def test_the_hosts_own_work_takes_as_long_after_fewer_calls(tmp_path):
    """HostTime is what the clock shows after the calls before it; without four launches it shows less."""
    stream = read_stream(collect(tmp_path, "for _ in range(8):\n    step[1, 32](x, y)\n", "--save-stream"))
    settings = settings_of(stream)
    commands = [each for each in stream.commands() if not isinstance(each[0], cmd.Wait)]
    commands += [(cmd.HostTime(1_000_000), False), (cmd.HostTime(5), False)]
    usual = run_stream(stream, settings, commands)
    own_ns, none = usual.host_work_ns
    assert none == 0 < own_ns < 1_000_000 - 8 * launch_ns(settings)
    working = with_host_work(commands, usual.host_work_ns)
    assert working[-2:] == [(HostWork(own_ns), False), (HostWork(0), False)]
    assert run_stream(stream, settings, working) == usual._replace(host_work_ns=())
    first = next(index for index, (saved, _) in enumerate(working) if isinstance(saved, SavedLaunch))
    fewer = run_stream(stream, settings, [*working[:first], *working[first + 4 :]])
    clock_ghz = settings.chip.clock_mhz / 1e3
    assert usual.program_cycles == round(1_000_000 * clock_ghz)
    assert usual.program_cycles - fewer.program_cycles == pytest.approx(4 * launch_ns(settings) * clock_ghz, abs=2)


def launch_ns(settings) -> float:
    return settings.chosen_host(settings.chip).launch_ns


def test_allocations_are_where_they_were(tmp_path):
    """Allocations of a program are aligned to pages, those of a script to less."""
    stream = read_stream(collect(tmp_path, "step[1, 32](x, y)\n", "--save-stream"))
    stream.header = replace(stream.header, alignment=1 << 16)
    first, second = GLOBAL_BASE, GLOBAL_BASE + (1 << 16)
    copies = [cmd.CopyWithin(second, first, 8), cmd.CopyOut(second, 8)]
    commands = [(command, False) for command in (cmd.Allocate(8, "a"), cmd.Allocate(8, "b"), *copies)]
    found = [(index, made.name) for index, made in copied_allocations(stream, settings_of(stream), commands)]
    assert found == [(2, "b"), (3, "b")]
    assert run_stream(stream, settings_of(stream), commands).copied_back == frozenset()
