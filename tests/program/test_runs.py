"""Whole programs: built, run, and what they print and end with."""

import os
import re
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

DRIVER_CONTEXTS = """\
cuDeviceGet(&device, 0): ERROR_NOT_INITIALIZED
cuInit(1): ERROR_INVALID_VALUE
cuMemAlloc(&p, 4): ERROR_INVALID_CONTEXT
cuDeviceGet(&device, 1): ERROR_INVALID_DEVICE
primary active 0
popped the second: 1, id 3, version 3020
the first is current: 1, flags 1
cuCtxSetCurrent(second): ERROR_CONTEXT_IS_DESTROYED
cuCtxSetCurrent((CUcontext)&flags): ERROR_INVALID_CONTEXT
cuCtxSynchronize(): ERROR_INVALID_CONTEXT
cuCtxPopCurrent(&found): ERROR_INVALID_CONTEXT
cuCtxDestroy(first): ERROR_INVALID_CONTEXT
cuDevicePrimaryCtxRelease(0): ERROR_INVALID_CONTEXT
cuCtxGetLimit(&value, limit): ERROR_UNSUPPORTED_LIMIT
stack 1024, cache 2
cuMemFree(12): ERROR_INVALID_VALUE
cudaSuccess
gpuprof a100 gpu 80 GiB 8.0 0000:01:00.0, one uuid 1, 1024 threads
cuDeviceGetByPCIBusId(&device, "0000:02:00.0"): ERROR_INVALID_DEVICE
cuDeviceGetAttribute(&value, (CUdevice_attribute)9999, 0): ERROR_INVALID_VALUE
142 attributes, ratio 2
cuModuleLoadDataEx(&module, broken, 2, options, values): ERROR_INVALID_PTX
log of 58: PTX 1 of the program:4:23: add.u32: 2 operands, expected 3
ADD(CUBIN, thrice): ERROR_NO_BINARY_FOR_GPU
ADD(PTX, broken): ERROR_INVALID_PTX
cuLinkComplete(state, &image, &nbytes): ERROR_INVALID_PTX
1 function, scale, the same 1 1, parameter 2 at 12 of 4
cuFuncGetParamInfo(function, 3, &offset, &nbytes): ERROR_INVALID_VALUE
cuModuleGetFunction(&function, module, "thrice"): ERROR_NOT_FOUND
bias of 12
of the library 1, carveout 50
cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101): ERROR_INVALID_VALUE
cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 8): ERROR_INVALID_VALUE
occupancy 2, 432 blocks of 512, 82944 bytes
15 21 33
cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, 0, arguments, nullptr): ERROR_INVALID_HANDLE
cuModuleUnload(module): ERROR_INVALID_HANDLE
cuModuleGetFunction(&function, module, "scale"): ERROR_INVALID_HANDLE
cuGetProcAddress("cuCtxCreate", &f, 12000, 0, &how): SUCCESS
cuGetProcAddress("cuLibraryLoadData", &f, 11000, 0, &how): ERROR_NOT_FOUND
found 2
cuGetProcAddress("cuNothing", &f, 13000, 0, &how): ERROR_NOT_FOUND
found 1
12080, 1 1
"""

DRIVER_MEMORY = """\
range 1 of 1000
cuMemGetAddressRange(&start, &nbytes, 64): ERROR_NOT_FOUND
cuMemFree((CUdeviceptr)host): ERROR_INVALID_VALUE
host type 1, own context 1, managed 1 0 4096
of the stack: managed 0 0 0
cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p): ERROR_INVALID_VALUE
cuMemAllocPitch(&half, &pitch, 100, 3, 5): ERROR_INVALID_VALUE
cuMemAllocManaged(&half, 4, 0): ERROR_INVALID_VALUE
cuMemAlloc(&half, 0): ERROR_INVALID_VALUE
preferred -1, read mostly 1, accessed by 0 -2
cuMemAdvise(p, 1000, CU_MEM_ADVISE_SET_READ_MOSTLY, 0): ERROR_INVALID_VALUE
cuMemPrefetchAsync(managed, 4096, 3, 0): ERROR_INVALID_DEVICE
cuMemCreate(&first, step + 1, &how, 0): ERROR_INVALID_VALUE
cuMemCreate(&first, total + step, &how, 0): ERROR_OUT_OF_MEMORY
cuMemMap(p, step, 0, second, 0): ERROR_INVALID_VALUE
cuMemcpyHtoD(p, &word, 4): ERROR_INVALID_VALUE
access 3, 8 9, 2 steps in use
the same handle 1
cuMemcpyDtoH(words, p + step, 4): ERROR_INVALID_VALUE
moved 9
cuMemFree(p): ERROR_INVALID_VALUE
cuMemAddressFree(p, total + 16 * step): ERROR_INVALID_VALUE
cuMemRelease(second): ERROR_INVALID_VALUE
given back 1
array 4 x 4 format 10, parts 5 10 0
cuMemcpy2D(&back): ERROR_INVALID_VALUE
whole 1, line 5 6
cuArrayCreate(&array, &shape): ERROR_INVALID_VALUE
0 1234 1234 0, 1234
cuMemsetD2D32(p, 10, 1, 3, 2): ERROR_INVALID_VALUE
cuMemsetD32(p + 2, 1, 1): ERROR_INVALID_VALUE
batch 1234 0
cuMemcpyDtoD(p, (CUdeviceptr)rows, 4): ERROR_INVALID_VALUE
texel 1, width 4
cuTexObjectDestroy(texture): ERROR_INVALID_VALUE
cuTexObjectCreate(&texture, &resource, &how, nullptr): ERROR_INVALID_VALUE
cuStreamCreate(&a, 2): ERROR_INVALID_VALUE
flags 1, priority -3, context 1
cuStreamWaitValue32(b, p, 10, CU_STREAM_WAIT_VALUE_EQ): ERROR_NOT_SUPPORTED
cuStreamWaitValue64(b, p + 4, 1, CU_STREAM_WAIT_VALUE_EQ): ERROR_INVALID_VALUE
cuEventCreate(&event, CU_EVENT_INTERPROCESS): ERROR_INVALID_VALUE
cuEventRecord(nullptr, a): ERROR_INVALID_HANDLE
cuStreamDestroy(CU_STREAM_LEGACY): ERROR_INVALID_HANDLE
SUCCESS ERROR_INVALID_VALUE ERROR_INVALID_VALUE
00a00000070000000001000000000000000000000000000000000000000000000000000000000000400000004000000000000000000000000000000001000000
1000000008000000010000000100000001000000010000000100000001000000010000000100000007000200000000000000000000000000000000000000544d
cuTensorMapReplaceAddress(&map, (void *)(p + 1024)): SUCCESS
cuTensorMapReplaceAddress(&map, (void *)(p + 8)): ERROR_INVALID_VALUE
3 nodes, 2 edges, type 1, 103
107, captured 1, 2 nodes, 102030b
fills with 100, 1 before, 1 edge left, event 1, enabled 0
priority -2
cuGraphChildGraphNodeGetGraph(copy, &clone): ERROR_INVALID_VALUE
cuGraphAddKernelNode(&launch, graph, nullptr, 0, &kernel): ERROR_INVALID_HANDLE
"""

# command line -> exit code, standard output
PROGRAMS = {
    "symbols.cu -- 3000": (0, "PASS counted 192, time\n"),
    "symbols.cu": (0, "PASS counted 192, time\n"),
    "managed_threads.cu": (0, "PASS\n"),
    "wide_parameters.cu": (0, "cudaSuccess 0\ncudaSuccess 0\n"),
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
    "driver_contexts.cu": (0, DRIVER_CONTEXTS),
    "driver_memory.cu": (0, DRIVER_MEMORY),
    "--chip h100 configured.cu": (
        0,
        "cudaSuccess\ncudaSuccess\ncudaErrorNotSupported\n0 1 0 1, 128 128\n",
    ),
    "--chip h100 settings.cu": (
        0,
        "4096 cudaErrorUnsupportedLimit cudaErrorInvalidValue\n2 1 10 cudaErrorInvalidValue\n"
        "cudaSuccess 0 cudaErrorInvalidDevice cudaErrorInvalidDevice\n"
        "0 268435456 cudaErrorInvalidDevice cudaSuccess cudaSuccess\n"
        "cudaSuccess cudaErrorInvalidValue cudaErrorInvalidValue\n16 0.5 -2 1 0\n"
        "_Z5namedPicd 16 8 cudaErrorInvalidValue\n50 65536 cudaErrorInvalidValue\n4 blocks, no more fits\n8 16 1\n"
        "cudaSuccess 5 cudaErrorInvalidValue\ncudaSuccess 1 1 cudaErrorSymbolNotFound 4 30 cudaSuccess\n_Z5namedPicd\n"
        "cudaSuccess 0 1 cudaSuccess 1 0\n",
    ),
    "many_copies.cu": (
        0,
        "cudaSuccess 1 4 5 6\ncudaErrorInvalidValue 1 cudaSuccess cudaErrorInvalidValue\ncudaSuccess 4 5 6 7\n"
        "cudaErrorInvalidValue\ncudaSuccess 11 cudaErrorInvalidDevice\n1 -1 -2 0 -2 -1 2\n"
        "cudaErrorInvalidDevice cudaErrorInvalidValue cudaErrorInvalidValue cudaSuccess\n"
        "cudaSuccess cudaSuccess -1\n1 3 cudaErrorInvalidValue\n5 9 6, 8\n"
        "5 1 cudaErrorInvalidValue cudaErrorInvalidValue cudaSuccess cudaErrorNotSupported\ncudaErrorInvalidValue\n",
    ),
    "nodes.cu": (
        0,
        "11 1\n1 1 10 1 4 1\n16 7 6 0 6 cudaErrorInvalidValue\n-3\n1 1 1 1 1 0 cudaErrorInvalidValue\n"
        '1 cudaErrorInvalidValue 3 0 10\ncudaSuccess\ndigraph dot {\n"0" [label="memset"];\n'
        '"1" [label="kernel _Z3addPii"];\n"2" [label="memcpy"];\n"0" -> "1";\n"1" -> "2";\n}\n'
        "1 cudaSuccess cudaSuccess 1\ncudaSuccess 6 6\n64 64 1 cudaSuccess cudaSuccess\n0 1 cudaErrorInvalidValue\n",
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


CLOCK = "gpuprof: stopwatch.cu: reads the host's clock, on which its kernels take no time; --timed models it\n"
TIMES = {
    "adaptive.cu": ("long enough\n", ""),
    "--no-timed adaptive.cu": ("no time\n", ""),
    "stopwatch.cu": ("no time\n", CLOCK),
    "stopwatch.cu -- early": ("", ""),
    "--no-timed stopwatch.cu": ("no time\n", ""),
    "--timed stopwatch.cu": ("a millisecond\n", ""),
}


@pytest.mark.long
@pytest.mark.parametrize("line", TIMES)
def test_a_program_that_asks_for_times_gets_them(line):
    """A loop that waits for events to show some time ends, and a clock of the host's without it says so."""
    output, notice = TIMES[line]
    done = gpuprof("run", *line.split(), env={**os.environ, "GPUPROF_PROGRESS": "off"})
    said = [line for line in done.stderr.splitlines(True) if "first run on this machine" not in line]
    assert (done.stdout, "".join(said), done.returncode) == (output, notice, 0)


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
    assert re.search("undefined symbol: nobody|undefined reference to `nobody", missing.stderr)


@pytest.mark.long
def test_a_call_that_is_not_there_is_named(tmp_path):
    (tmp_path / "a.cu").write_text("int main() { cudaIpcCloseMemHandle(nullptr); return 0; }\n")
    (tmp_path / "b.cu").write_text('extern "C" int cuNoSuchThing();\nint main() { return cuNoSuchThing(); }\n')
    (tmp_path / "c.cu").write_text(
        "#include <cuda.h>\ninline CUresult unused() { return cuGreenCtxDestroy(0); }\n"
        "int main() {\n    return cuGreenCtxDestroy(0);\n}\n"
    )
    (tmp_path / "d.c").write_text("int main(void) { return cudaMemPoolExportPointer(); }\n")
    names = ("a.cu", "b.cu", "c.cu", "d.c")
    found = [gpuprof("run", name, "--host-compiler", "zig", folder=tmp_path).stderr for name in names]
    lists = "docs/programs-api.md lists what it has"
    other = "(memory of other processes)"
    assert [text.splitlines()[-1] for text in found] == [
        f"gpuprof: a.cu does not compile for the host: gpuprof does not have cudaIpcCloseMemHandle {other}; {lists}",
        f"gpuprof: the program does not link: gpuprof does not have cuNoSuchThing; {lists}",
        f"gpuprof: c.cu does not compile for the host: gpuprof does not have cuGreenCtxDestroy; {lists}",
        f"gpuprof: d.c does not compile for the host: gpuprof does not have cudaMemPoolExportPointer {other}; {lists}",
    ]
    linked = r"undefined (symbol: |reference to `)cuNoSuchThing"  # as zig's linker and the system's say it
    lines = (r"a\.cu:1:14: error: ", linked, r"c\.cu:4:12: error: ", r"d\.c:1:25: error: ")
    assert [bool(re.search(line, text)) for line, text in zip(lines, found, strict=True)] == [True] * 4


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
    assert [(done.returncode, done.stderr) for done in found] == [
        (
            1,
            "gpuprof: a.cu:2: unsupported external function _Z6squarei in call.uni (PTX line 33); with --rdc, a .cu "
            "file finds what another defines\n",
        ),
        (
            1,
            "gpuprof: a.cu: no PTX can be generated: RuntimeError: Linking globals named '_Z6squarei': symbol multiply "
            "defined!\n",
        ),
    ]


DEVICE_ERRORS = {
    "error.cu": (
        "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900\n#error these kernels need sm_90\n#endif\n",
        "error.cu:2:2: error: these kernels need sm_90",
    ),
    "name.cu": (
        "#ifdef __CUDA_ARCH__\n__device__ int f() { return nowhere; }\n#endif\n",
        "name.cu:2:29: error: use of undeclared identifier 'nowhere'",
    ),
    "assembly.cu": (
        '__global__ void k(int *o) { asm("nonsense.b32 %0;" : "=r"(*o)); }\n',
        "gpuprof: assembly.cu:1: unsupported instruction nonsense.b32",
    ),
    "both.cu": (
        "int f() { return nowhere; }\n#ifdef __CUDA_ARCH__\n__device__ int g() { return notthere; }\n#endif\n",
        "both.cu:3:29: error: use of undeclared identifier 'notthere'",
    ),
}


@pytest.mark.long
def test_a_program_whose_device_code_does_not_compile_is_not_started(tmp_path):
    """It checks no errors, and would print."""
    for name, (text, _) in DEVICE_ERRORS.items():
        (tmp_path / name).write_text(text)
    main = '#include <cstdio>\n__global__ void one() {}\nint main() { puts("begun"); one<<<1, 1>>>(); return 0; }\n'
    (tmp_path / "main.cu").write_text(main)
    for name, (_, told) in DEVICE_ERRORS.items():
        for flags in ([], ["--rdc"]):
            done = gpuprof("run", "main.cu", name, *flags, folder=tmp_path)
            assert (done.returncode, done.stdout) == (1, ""), name
            assert done.stderr.count(told) == 1, done.stderr
    assert done.stderr.count("undeclared identifier 'nowhere'") == 1, "the host's compiler says it, too"
    again = [gpuprof(command, "main.cu", "error.cu", folder=tmp_path) for command in ("run", "collect")]
    assert [done.returncode for done in again] == [1, 1]
    assert all(DEVICE_ERRORS["error.cu"][1] in done.stderr for done in again)
    fits = gpuprof("run", "main.cu", "error.cu", "--chip", "h100", folder=tmp_path)
    assert (fits.returncode, fits.stdout, fits.stderr) == (0, "begun\n", "")


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
