"""Whole programs: built, run, and what they print and end with."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuprof.errors import CompileError
from gpuprof.run.program import has_main

SOURCES = Path(__file__).parent / "sources"
try:
    from gpuprof.compile.host import host_toolchain

    host_toolchain()
    WHY_NOT = ""
except CompileError as error:
    WHY_NOT = str(error)
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)

# command line -> exit code, standard output
PROGRAMS = {
    "symbols.cu -- 3000": (0, "PASS counted 192, time\n"),
    "symbols.cu": (0, "PASS counted 192, time\n"),
    "managed_threads.cu": (0, "PASS\n"),
    "streams.cu": (0, "PASS 1 calls\n"),
    "device.cu": (
        0,
        "1 gpuprof a100 1 8.0 warp 32\n8 blocks of 256, block of 1024, 1024 threads at most\n"
        "cudaErrorCooperativeLaunchTooLarge\ncudaSuccess 40\nmemory\n",
    ),
    "parts/main.cpp parts/sum.cu parts/twice.c -- -x": (3, "word -x 5050 10100\ncaught\n"),
}
ERRORS = """\
cudaErrorMemoryAllocation
cudaErrorMemoryAllocation
cudaSuccess
cudaSuccess
cudaSuccess
cudaSuccess
cudaErrorInvalidValue
cudaErrorInvalidMemcpyDirection
cudaErrorInvalidValue
cudaErrorInvalidValue
cudaSuccess
cudaErrorInvalidConfiguration
cudaErrorInvalidConfiguration
cudaErrorInvalidConfiguration
cudaErrorInvalidValue
cudaSuccess
cudaSuccess
cudaErrorInvalidDevice
cudaSuccess
cudaErrorInvalidResourceHandle
cudaErrorIllegalAddress
cudaErrorIllegalAddress
cudaErrorIllegalAddress
cudaErrorIllegalAddress
"""


def gpuprof(*words, folder=SOURCES, **options):
    options = {"capture_output": True, "text": True, "timeout": 300, "input": "word\n"} | options
    return subprocess.run([sys.executable, "-m", "gpuprof", *words], cwd=folder, **options)


def test_a_child_of_a_program_has_no_context():
    """It needs neither a kernel nor C++'s library, so it is short."""
    done = gpuprof("run", "forks.cu")
    assert (done.stdout, done.returncode) == ("7 cudaSuccess\n", 0), done.stderr


@pytest.mark.long
@pytest.mark.parametrize("line", PROGRAMS)
def test_a_program_runs(line):
    code, output = PROGRAMS[line]
    done = gpuprof("run", *line.split())
    assert (done.stdout, done.returncode) == (output, code), done.stderr


@pytest.mark.long
def test_errors_are_cudas_and_the_fault_is_told_with_its_line():
    done = gpuprof("run", "errors.cu")
    assert done.stdout == ERRORS
    assert done.returncode == 1
    assert done.stderr.count("errors.cu:3, thread (0, 0, 0) of block (0, 0, 0): out of bounds write") == 2


@pytest.mark.long
def test_host_code_that_touches_device_memory():
    done = gpuprof("run", "touches.cu")
    assert done.returncode == 128 + signal.SIGSEGV
    assert done.stderr == (
        "gpuprof: host code touched device memory at 0x700000000; copy it with cudaMemcpy, or allocate it with "
        "cudaMallocManaged\n"
    )


@pytest.mark.long
def test_a_program_is_profiled_and_its_stream_gives_the_same_cycles(tmp_path):
    """Also with memory that the host writes to without a call."""
    recording, again = tmp_path / "a.gprec", tmp_path / "b.gprec"
    source = str(SOURCES / "managed_threads.cu")
    first = gpuprof("collect", source, "--save-stream", "-o", str(recording), folder=tmp_path)
    second = gpuprof("replay", str(recording), "-o", str(again), folder=tmp_path)
    launches = [line for line in first.stdout.splitlines() if line.startswith("add<<<")]
    assert len(launches) == 6
    assert [line for line in second.stdout.splitlines() if line.startswith("add<<<")] == launches
    assert first.stdout.splitlines()[6:] == [
        "PASS",
        f"{sum(int(line.split()[-2]) for line in launches)} samples of 6 launches -> {recording}",
        "the program ended with exit code 0",
    ]


@pytest.mark.long
def test_a_program_without_launches_or_with_an_error(tmp_path):
    (tmp_path / "none.cu").write_text("int main() { return 0; }\n")
    (tmp_path / "fails.cu").write_text("__global__ void k() {}\nint main() { k<<<1, 1>>>(); return 4; }\n")
    (tmp_path / "wrong.cu").write_text("int main() { return nobody(); }\n")
    (tmp_path / "missing.cu").write_text("int nobody();\nint main() { return nobody(); }\n")
    none, fails = (gpuprof("collect", name, folder=tmp_path) for name in ("none.cu", "fails.cu"))
    assert (none.returncode, none.stderr) == (
        4,
        "gpuprof: none.cu: the program launched no kernel, so nothing was recorded\n",
    )
    assert fails.returncode == 1
    assert fails.stderr == "gpuprof: the program ended with exit code 4; fails.gprec is written\n"
    wrong, missing = (gpuprof("run", name, folder=tmp_path) for name in ("wrong.cu", "missing.cu"))
    assert wrong.returncode == missing.returncode == 1
    assert "wrong.cu:1:21: error: use of undeclared identifier 'nobody'" in wrong.stderr
    assert "undefined symbol: nobody" in missing.stderr


@pytest.mark.long
def test_ctrl_c_ends_the_program_too(tmp_path):
    command = [sys.executable, "-m", "gpuprof", "run", str(SOURCES / "endless.cu")]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert running.stdout.readline() == "begun\n"
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    running.send_signal(signal.SIGINT)
    assert running.wait(60) == 130
    time.sleep(0.2)
    assert [child for child in children if os.path.exists(f"/proc/{child}")] == []


MAINS = {
    "int main() {}": True,
    "auto main(int n, char **v) -> int {}": True,
    "int\nmain (void)\n{": True,
    "// int main() {}": False,
    "int domain(int x);": False,
    "void f() { app.main(); }": False,
    "x = ns::main(1);": False,
}


@pytest.mark.parametrize("text", MAINS)
def test_a_main_is_found(text):
    assert has_main(text) == MAINS[text]
