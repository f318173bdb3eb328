"""Runs for tests: files in a child process, kernels of Python in this one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import gpuprof
from gpuprof.base.processes import is_running
from gpuprof.cli.options.table import DEFAULT_PERIOD_CYCLES
from gpuprof.correlate.database import reading
from gpuprof.errors import GpuprofError, NotComparable, UsageError
from gpuprof.testing.collector import Collector
from gpuprof.testing.in_process import PERIOD_CYCLES
from tests.support.command import gpuprof as run_gpuprof, write_files
from tests.support.tools import module

KERNEL = """\
#include <cstdio>
__global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
    if (i == 0)
        printf("says\\n");
}
"""
LAUNCH = "twice<<<2, 64>>>(x: f32[128]=arange, y: f32[128], 100)"
AGAIN = "twice<<<2, 64>>>(x, y, 100)"
PROGRAM = """\
#include <cstdio>
#include <cstdlib>
__global__ void fill(int *x) { x[threadIdx.x] = 1; }
int main(int count, char **words)
{
    int *x;
    cudaMalloc(&x, 128);
    fill<<<1, 32>>>(x);
    cudaDeviceSynchronize();
    printf("words: %d\\n", count);
    return atoi(words[1]);
}
"""


@pytest.fixture
def collector(tmp_path):
    """Files are in `files`, and in the folder above it."""
    write_files(tmp_path, {"files/twice.cu": KERNEL, "app.cu": PROGRAM})
    return Collector(tmp_path / "scratch", [tmp_path / "files", tmp_path])


def test_a_run_of_a_kernel(collector, tmp_path):
    """Its numbers are those that the command line prints."""
    run = collector.collect("twice.cu", launch=[LAUNCH, AGAIN], chip="h100", max_registers=32)
    first, second = run.launches
    assert (first.title, second.title) == ("twice<<<2, 64>>>", "twice<<<2, 64>>> #2")
    assert (first.kernel, first.grid, first.block) == ("twice", (2, 1, 1), (64, 1, 1))
    words = ("--launch", LAUNCH, "--launch", AGAIN, "--chip", "h100", "--max-registers", "32")
    code, out, _ = run_gpuprof(tmp_path / "files", "collect", "twice.cu", *words)
    assert code == 0
    assert f"twice<<<2, 64>>>  {first.cycles:,} cycles  {first.inst_executed} warp instructions" in out
    kernel = run.kernel("twice")
    assert run.cycles == kernel.cycles == first.cycles + second.cycles
    assert 0 < kernel.registers == first.registers == run.metrics["registers"] <= 32
    assert (run.output, run.exit_code, run.findings) == ("says\nsays\n", 0, ())
    with reading(run.database) as database:
        (line,) = database.execute("SELECT value FROM meta WHERE key = 'command'").fetchone()
    launches = f"--launch '{LAUNCH}' --launch '{AGAIN}'"
    assert line == f"gpuprof collect twice.cu {launches} --chip h100 --period 256 --max-registers 32"
    assert collector.runs == [run]


def test_arrays(collector):
    """One that `save` names, and one that takes a second run."""
    run = collector.collect("twice.cu", launch=LAUNCH, save="y")
    expected = np.where(np.arange(128) < 100, 2 * np.arange(128), 0).astype(np.float32)
    np.testing.assert_array_equal(run.array("y"), expected)
    np.testing.assert_array_equal(run.array("twice.x"), np.arange(128, dtype=np.float32))
    with pytest.raises(UsageError, match=r"^--save: no launch has an array z; named are: x, y"):
        run.array("z")


def test_unknown_names(collector):
    run = collector.collect("twice.cu", launch=LAUNCH)
    with pytest.raises(UsageError, match=r"^'twic' was not launched; did you mean twice?"):
        run.kernel("twic")
    with pytest.raises(AttributeError, match=r"^'cylces' is not a metric; did you mean cycles?"):
        run.kernel("twice").cylces  # noqa: B018
    with pytest.raises(UsageError, match=r"^collect: unknown keyword 'lanch'; did you mean launch?"):
        collector.collect("twice.cu", lanch=LAUNCH)


def test_errors_are_those_of_gpuprof(collector, tmp_path):
    with pytest.raises(UsageError) as caught:
        collector.collect("twice.cu", launch="twise<<<1, 32>>>()")
    assert str(caught.value).startswith("--launch: twice.cu has no kernel twise; it has twice. Did you mean twice?")
    line = "gpuprof collect twice.cu '--launch=twise<<<1, 32>>>()'"
    assert caught.value.__notes__ == [f"in {tmp_path / 'files'}: {line}"]
    (tmp_path / "files" / "broken.cu").write_text("__global__ void k() { x; }\n")
    with pytest.raises(GpuprofError, match=r"broken.cu:1:23: error: use of undeclared identifier 'x'"):
        collector.collect("broken.cu", launch="k<<<1, 32>>>()")
    with pytest.raises(GpuprofError, match=r"^results differ: 1 of 1 compared array"):
        collector.collect("twice.cu", launch=LAUNCH, expect="y=1")
    with pytest.raises(UsageError, match=rf"^no.cu: there is no such file in {tmp_path / 'files'} or {tmp_path}$"):
        collector.collect("no.cu")
    assert collector.runs == []


@pytest.mark.long
def test_a_program(collector):
    run = collector.program("app.cu", [0, "two"])
    assert (run.output, run.exit_code, run.kernel("fill").launches[0].title) == ("words: 3\n", 0, "fill<<<1, 32>>>")
    assert collector.program("app.cu", [3], exit_code=3).exit_code == 3
    assert collector.program("app.cu", [4], exit_code=None).exit_code == 4
    with pytest.raises(GpuprofError, match=r"^the program ended with exit code 3; "):
        collector.program("app.cu", [3])
    with pytest.raises(GpuprofError, match=r"^the program ended with exit code 0, and exit code 3 was expected"):
        collector.program("app.cu", [0], exit_code=3)


def test_findings(collector, tmp_path):
    (tmp_path / "over.cu").write_text("__global__ void over(float *x) { x[threadIdx.x] = 1; }\n")
    run = collector.collect("over.cu", launch="over<<<1, 33>>>(f32[32])", trace="memcheck")
    (finding,) = run.findings
    assert (finding.kind, finding.severity, finding.place, finding.count) == ("out_of_bounds", "error", "over.cu:1", 1)
    assert finding.launch is run.launches[0]


def test_a_device(collector):
    x = np.arange(128, dtype=np.float32)
    with collector.recording(chip="h100", cache="cold") as run:
        assert run.device is gpuprof.Device()
        y = run.device.device_array(128, np.float32)
        run.device.load(collector.folders[0] / "twice.cu").twice[2, 64](x, y, 100)
        result = y.copy_to_host()
    assert result[99] == 198
    assert run.cycles == collector.collect("twice.cu", launch=LAUNCH, chip="h100").cycles
    assert gpuprof.Device().chip.name == "a100"


def test_what_a_recording_cannot_have(collector):
    only = r"^max_registers=32: a run in the test's own process has only the flags chip, "
    with pytest.raises(UsageError, match=only), collector.recording(max_registers=32):
        pass
    unknown = r"^recording\(interop='tritn'\): unknown; did you mean triton?"
    with pytest.raises(UsageError, match=unknown), collector.recording(interop="tritn"):
        pass
    nothing = r"^recording\(\): no kernel was launched in the block"
    with pytest.raises(NotComparable, match=nothing), collector.recording():
        pass
    with pytest.raises(ZeroDivisionError), collector.recording():
        1 / 0  # noqa: B018
    assert collector.runs == []


def test_the_period_is_the_usual_one():
    assert PERIOD_CYCLES == DEFAULT_PERIOD_CYCLES


@pytest.mark.long
def test_triton(collector, monkeypatch):
    """Two runs on two GPUs; afterwards Triton launches where it did before."""
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    triton = module("triton", "interop")
    from gpuprof.interop import triton as interop
    from tests.testing.triton_twice import twice

    before = triton.runtime.driver._active
    x, y = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    runs = [collector.triton(twice, (2,), x, y, 100, BLOCK=64) for _ in range(2)]
    assert y[99] == 198 and y[100] == 0
    assert [run.launches[0].title for run in runs] == ["twice<<<2, 128>>>"] * 2
    assert runs[0].cycles == runs[1].cycles > 0
    assert triton.runtime.driver._active is before
    device = interop.enable()
    collector.triton(twice, (2,), x, y, 100, BLOCK=64)
    assert interop._Enabled.driver.gpu is device
    interop.disable()


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Grid size")
def test_numba(collector):
    """A kernel that was compiled for one GPU launches on another one."""
    module("numba_cuda", "interop")
    from numba import cuda

    @cuda.jit
    def twice(x, y):
        i = cuda.grid(1)
        y[i] = 2 * x[i]

    x, y = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    runs = [collector.numba(twice, 2, 64, x, y) for _ in range(2)]
    with collector.recording(interop="numba", chip="h100") as other:
        twice[2, 64](x, y)
    assert y[127] == 254
    assert [run.launches[0].title for run in runs] == ["twice<<<2, 64>>>"] * 2
    assert runs[0].cycles == runs[1].cycles > 0 and other.cycles not in (0, runs[0].cycles)


ENDLESS = """\
import sys
from pathlib import Path
from gpuprof.testing.collector import Collector
Path("endless.cu").write_text("__global__ void k(volatile int *x) { while (x[0] == 0); }")
try:
    Collector(Path("scratch")).collect("endless.cu", launch="k<<<1, 32>>>(i32[1])")
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_an_interrupt_leaves_no_process(tmp_path):
    """Only the process of the test gets the signal, as from a runner that stops it."""
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS], cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as test:
        claimed = tmp_path / "scratch" / "run1" / ".endless.gprec.lock"
        while not claimed.exists():
            assert test.poll() is None
            time.sleep(0.05)
        (child,) = children(test.pid)
        os.kill(test.pid, signal.SIGINT)
        assert test.communicate(timeout=60)[0] == "interrupted\n"
    assert not is_running(child)


def children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
