"""Whole programs: built, run, and what they print and end with."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuprof.base.processes import why_died
from gpuprof.run.program_run import has_main
from tests.program.hosts import WHY_NOT

SOURCES = Path(__file__).parent / "sources"
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)

# command line -> exit code, standard output
PROGRAMS = {
    "symbols.cu -- 3000": (0, "PASS counted 192, time\n"),
    "symbols.cu": (0, "PASS counted 192, time\n"),
    "managed_threads.cu": (0, "PASS\n"),
    "streams.cu": (0, "PASS 1 calls\n"),
    "--chip v100 storm.cu": (0, "3200 of 16 GiB, cudaErrorMemoryAllocation cudaErrorMemoryAllocation\n"),
    "arrays.cu": (
        0,
        "PASS 25 201 100.5 14, level of 2 x 2\ncudaErrorInvalidValue\ncudaErrorInvalidChannelDescriptor\n",
    ),
    "graphs.cu": (
        0,
        "1\n22 2, called 3\n202 2, called 6\n"
        "2002 2, called 9\n7 nodes, 1 roots, 7 edges\n1020310\n1020319\n"
        "cudaSuccess cudaErrorGraphExecUpdateFailure\ncudaErrorInvalidValue\ncudaErrorStreamCaptureUnjoined\n"
        "cudaErrorStreamCaptureUnsupported\n",
    ),
    "open_memory.cu": (
        0,
        "3 3.5\n77 3 5 3.5\ncudaErrorHostMemoryAlreadyRegistered\n1 4 2 14 1, type 1\n"
        "4 1 cudaErrorHostMemoryNotRegistered\n1000 used, 1000 at most, cudaErrorInvalidValue\n",
    ),
    "driver.cu": (
        0,
        "286 1020102, bias of 4 bytes, sm_8, registers yes\nCUDA_ERROR_NOT_FOUND CUDA_ERROR_INVALID_VALUE\n"
        "CUDA_ERROR_INVALID_PTX CUDA_ERROR_FILE_NOT_FOUND\nCUDA_ERROR_INVALID_VALUE\nCUDA_ERROR_NO_BINARY_FOR_GPU\n",
    ),
    "--chip h100 configured.cu": (
        0,
        "cudaSuccess\ncudaSuccess\ncudaErrorNotSupported\n0 1 0 1, 128 128\n",
    ),
    "assertion.cu": (1, "PASS\n"),
    "ranges.cu": (0, "0 1 0 -2\n1 1\n"),
    "device.cu": (
        0,
        "1 gpuprof a100 1 8.0 warp 32\n8 blocks of 256, block of 1024, 1024 threads at most\n"
        "cudaErrorCooperativeLaunchTooLarge\ncudaSuccess 40\nmemory\n",
    ),
    "--rdc linked/main.cu linked/parts.cu": (0, "26 11 58 8 cudaSuccess\n"),
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
cudaErrorInvalidResourceHandle
cudaErrorInvalidResourceHandle
cudaErrorIllegalAddress
cudaErrorIllegalAddress
cudaErrorIllegalAddress
cudaErrorIllegalAddress
"""


def gpuprof(*words, folder=SOURCES, **options):
    options = {"capture_output": True, "text": True, "timeout": 300, "input": "word\n"} | options
    return subprocess.run([sys.executable, "-m", "gpuprof", *words], cwd=folder, **options)


@pytest.mark.long
def test_a_child_of_a_program_has_no_context():
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
    assert done.stderr.count("errors.cu:3, thread (0, 0, 0) of block (0, 0, 0): out of bounds write") == 1
    assert done.stderr.splitlines()[-1] == "gpuprof: errors.cu: the program's GPU context was lost"


@pytest.mark.long
def test_host_code_that_touches_device_memory():
    done = gpuprof("run", "touches.cu")
    assert done.returncode == 128 + signal.SIGSEGV
    assert done.stderr == (
        "gpuprof: host code touched device memory at 0x700000000; copy it with cudaMemcpy, or allocate it with "
        "cudaMallocManaged\n"
        "gpuprof: touches.cu: the program was ended by signal 11 (SIGSEGV): its host code used an address that is not "
        "there: look for a null or freed pointer, an index past the end, or too small a stack (`ulimit -s`)\n"
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
def test_a_call_that_is_not_there_is_named(tmp_path):
    (tmp_path / "a.cu").write_text("int main() { cudaIpcCloseMemHandle(nullptr); return 0; }\n")
    (tmp_path / "b.cu").write_text('extern "C" int cuLinkCreate();\nint main() { return cuLinkCreate(); }\n')
    found = [gpuprof("run", name, folder=tmp_path).stderr.splitlines()[-1] for name in ("a.cu", "b.cu")]
    lists = "docs/programs.md lists what it has"
    assert found == [
        f"gpuprof: a.cu does not compile for the host: gpuprof does not have cudaIpcCloseMemHandle; {lists}",
        f"gpuprof: the program does not link: gpuprof does not have cuLinkCreate; {lists}",
    ]


@pytest.mark.long
def test_what_is_no_source_is_no_argument_either(tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k() {}\nint main() { k<<<1, 1>>>(); return 0; }\n")
    lines = ("collect k.cu 1024", "run k.cu 1024", "collect k.cu absent.cpp", "run absent.cpp", "collect absent.c")
    found = [(done.returncode, done.stderr) for done in (gpuprof(*line.split(), folder=tmp_path) for line in lines)]
    no_source = "gpuprof: 1024: a program's sources are .cu, .cpp, .cc, .cxx, .c files; its arguments come after --\n"
    absent = "gpuprof: absent.c{}: there is no such file\n"
    assert found == [(2, no_source)] * 2 + [(2, absent.format("pp"))] * 2 + [(2, absent.format(""))]


@pytest.mark.long
def test_device_code_of_two_files_needs_each_name_once(tmp_path):
    """What another file defines is not there without --rdc; twice with it is an error, too."""
    (tmp_path / "a.cu").write_text(
        "__device__ int square(int x);\n__global__ void k(int *p) { *p = square(*p); }\n"
        "int main() { k<<<1, 1>>>(nullptr); return cudaGetLastError(); }\n"
    )
    for name in ("b.cu", "c.cu"):
        (tmp_path / name).write_text("__device__ int square(int x) { return x * x; }\n")
    found = [gpuprof("run", *line.split(), folder=tmp_path) for line in ("a.cu b.cu", "a.cu b.cu c.cu --rdc")]
    assert [(done.returncode, done.stderr.split(": ", 3)[3]) for done in found] == [
        (
            218,
            "a.cu:2: unsupported external function _Z6squarei in call.uni (PTX line 33); with --rdc, a .cu file finds "
            "what another defines\n",
        ),
        (
            209,
            "a.cu: no PTX can be generated: RuntimeError: Linking globals named '_Z6squarei': symbol multiply "
            "defined!\n",
        ),
    ]


BEGUN = "begun\nand on\n"  # what is printed before a launch is out, however the program ends
# how the program ends -> exit code, standard output, the last line that the user is told
ENDS = {
    "callback": (5, BEGUN + "callback\n", ""),
    "socket closed": (125, BEGUN, "gpuprof: the program has closed gpuprof's socket"),
    "written to": (
        1,
        BEGUN,
        "gpuprof: the program wrote something to gpuprof's socket that is no call; it must not use it",
    ),
    "abort": (128 + signal.SIGABRT, BEGUN, why_died("gpuprof: hostile.cu", -signal.SIGABRT)),
    "kill": (128 + signal.SIGKILL, BEGUN, why_died("gpuprof: hostile.cu", -signal.SIGKILL)),
    "fault that is raised": (128 + signal.SIGSEGV, BEGUN, why_died("gpuprof: hostile.cu", -signal.SIGSEGV)),
    "overflow of the stack": (128 + signal.SIGSEGV, BEGUN, why_died("gpuprof: hostile.cu", -signal.SIGSEGV)),
    "negative sizes": (125, BEGUN + "1\n1\n1\n", "gpuprof: a copy reads host memory that is not there"),
}


def of_programs() -> list[str]:
    """What programs may leave behind: shared memory, and processes of theirs that this test has started."""
    shared = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    running = []
    for process in filter(str.isdecimal, os.listdir("/proc")):
        try:
            environment = Path(f"/proc/{process}/environ").read_bytes()
            running += [process] if f"GPUPROF_TEST={os.getpid()}\0".encode() in environment else []
        except OSError:  # another's, or it has ended
            continue
    return [*(name for name in shared if "gpuprof" in name), *running]


@pytest.mark.long
def test_programs_that_end_in_other_ways(monkeypatch):
    monkeypatch.setenv("GPUPROF_TEST", str(os.getpid()))
    found = {}
    for how in ENDS:
        done = gpuprof("run", "hostile.cu", "--", how)
        found[how] = (done.returncode, done.stdout, "".join(done.stderr.splitlines()[-1:]))
    assert found == ENDS
    assert of_programs() == []


@pytest.mark.long
def test_output_that_nobody_reads():
    """As `gpuprof run ... | head -1`."""
    command = [sys.executable, "-m", "gpuprof", "run", "hostile.cu", "--", "lines"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=SOURCES) as running:
        assert running.stdout.readline() == "begun\n"
        running.stdout.close()
        assert (running.wait(60), running.stderr.read()) == (128 + signal.SIGPIPE, "")


MAIN = """\
#include "k.h"
#include <cstdio>
int part();
__global__ void k(int *p) { p[0] = N + K; }
int main()
{
    int *p, found;
    cudaMalloc(&p, 4);
    k<<<1, 1>>>(p);
    cudaMemcpy(&found, p, 4, cudaMemcpyDeviceToHost);
    printf("%d %d %ld\\n", found, N + part(), __cplusplus);
    return 0;
}
"""
PART = """\
static __global__ void k(int *p) { p[0] = 7; }
int part()
{
    int *p;
    cudaMallocManaged(&p, 4);
    k<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    return *p;
}
"""


@pytest.mark.long
def test_flags_hold_for_host_and_device_and_paths_have_spaces(tmp_path):
    """Two files of one name, and two kernels of one name in them; the second build sees the header's change."""
    folder = tmp_path / "sub folder"
    folder.mkdir()
    (tmp_path / "main.cu").write_text(MAIN)
    (folder / "main.cu").write_text(PART)
    found = []
    for k in (40, 50):
        (folder / "k.h").write_text(f"#define K {k}\n")
        line = ["main.cu", "sub folder/main.cu", "-I", "sub folder", "-D", "N=2", "--std", "c++20", "-O1"]
        done = gpuprof("run", *line, folder=tmp_path)
        found.append((done.stdout, done.returncode, done.stderr))
    assert found == [("42 9 202002\n", 0, ""), ("52 9 202002\n", 0, "")]


@pytest.mark.long
def test_ctrl_c_ends_the_program_too(tmp_path):
    command = [sys.executable, "-m", "gpuprof", "run", str(SOURCES / "endless.cu")]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert running.stdout.readline() == "begun\n"
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    running.send_signal(signal.SIGINT)
    assert running.wait(60) == 130
    for _ in range(100):  # a machine under load takes its time to end a process
        left = [child for child in children if os.path.exists(f"/proc/{child}")]
        if not left:
            break
        time.sleep(0.1)
    assert left == []


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
