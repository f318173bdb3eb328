"""What programs ask of the GPU, as commands: copies of page-locked memory, rows, graphs, host functions, calls."""

import pytest

from gpuprof.device import commands as cmd
from gpuprof.run import program_run
from gpuprof.run.program_run import run_program
from gpuprof.run.run_settings import Settings
from tests.program.hosts import WHY_NOT
from tests.program.test_profiles import table
from tests.program.test_runs import gpuprof

pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]

HEAD = """\
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void add(int *p) { p[threadIdx.x] += 1; }
"""
PIPELINE = """\
int main()
{
    int *host, *device, *own = (int *)aligned_alloc(4096, 8192);
    cudaStream_t stream;
    cudaMallocHost(&host, 1024);
    cudaMalloc(&device, 1024);
    cudaStreamCreate(&stream);
    cudaMemcpyAsync(device, host, 1024, cudaMemcpyHostToDevice, stream);
    add<<<1, 256, 0, stream>>>(device);
    cudaMemcpyAsync(host, device, 1024, cudaMemcpyDeviceToHost, stream);
    cudaMemcpyAsync(host + 128, host, 512, cudaMemcpyDefault, stream);
    cudaStreamSynchronize(stream);
    const bool is_right = host[0] == 1 && host[255] == 1;
    cudaMemcpy(device, host, 512, cudaMemcpyHostToDevice);
    cudaMemcpyAsync(device, own, 1024, cudaMemcpyHostToDevice, stream);
    cudaHostRegister(own, 8192, 0);
    cudaMemcpyAsync(device, own + 16, 1024, cudaMemcpyHostToDevice, stream);
    cudaMemcpy(own, device, 1024, cudaMemcpyDeviceToHost);
    return !is_right;
}
"""
ROWS = """\
int main()
{
    char *host, *device, own[300];
    cudaMallocHost(&host, 300);
    cudaMalloc(&device, 512);
    cudaMemcpy2DAsync(device, 128, host, 100, 90, 3, cudaMemcpyHostToDevice, 0);
    cudaMemcpy2D(host, 100, device, 128, 90, 2, cudaMemcpyDeviceToHost);
    cudaMemcpy2D(own, 100, device, 128, 90, 2, cudaMemcpyDeviceToHost);
    cudaMemset2D(device, 128, 7, 90, 2);
    cudaMemset2D(device, 128, 7, 128, 2);
    return 0;
}
"""
GRAPH = """\
int main()
{
    int *first, *second, *host;
    cudaStream_t one, other;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaMalloc(&first, 1024);
    cudaMalloc(&second, 1024);
    cudaMallocHost(&host, 1024);
    cudaStreamCreate(&one);
    cudaStreamCreate(&other);
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
    cudaMemcpy2DAsync(first, 512, host, 512, 256, 2, cudaMemcpyHostToDevice, one);
    cudaEventRecord(fork, one);
    cudaStreamWaitEvent(other, fork, 0);
    add<<<1, 32, 0, one>>>(first);
    add<<<1, 64, 0, other>>>(second);
    cudaEventRecord(join, other);
    cudaStreamWaitEvent(one, join, 0);
    cudaMemcpyAsync(host, first, 1024, cudaMemcpyDeviceToHost, one);
    cudaStreamEndCapture(one, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, one);
    cudaStreamSynchronize(one);
    cudaGraphExecUpdateResultInfo found;
    cudaGraphExecUpdate(exec, graph, &found);
    return host[0] != 1;
}
"""
HOST_FUNCTION = """\
#include <unistd.h>
__constant__ int symbol;
void set(void *p) { *(int *)p += 1; }
void called(cudaStream_t, cudaError_t, void *p) { *(int *)p += 1; }
int main()
{
    int n = 0, *device;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaMallocAsync((void **)&device, 128, 0);
    cudaStreamCreate(&stream);
    add<<<1, 32, 0, stream>>>(device);
    cudaLaunchHostFunc(stream, set, &n);
    cudaStreamAddCallback(stream, called, &n, 0);
    usleep(1000);
    cudaMemcpyToSymbol(symbol, &n, 4);
    cudaEventCreate(&event);
    return n != 2;
}
"""
PROGRAMS = {
    "pipeline": (
        PIPELINE,
        """\
        Allocate cudaHostAlloc 1, 1024 bytes, pinned
        Allocate cudaMalloc 2, 1024 bytes
        HostCall kind other, n 1
        CopyWithin in, cudaHostAlloc 1 to cudaMalloc 2, 1024 bytes, stream 1
        Load
        Launch add<<<1, 256, 0, 1>>>, stream 1
        CopyWithin out, cudaMalloc 2 to cudaHostAlloc 1, 1024 bytes, stream 1
        CopyWithin host, cudaHostAlloc 1 to cudaHostAlloc 1 + 512, 512 bytes, stream 1
        Wait event -1, stream -1, of 1
        CopyWithin in, cudaHostAlloc 1 to cudaMalloc 2, 512 bytes, stream 0
        Wait event -1, stream -1, of 0
        CopyIn cudaMalloc 2, 1024 bytes, stream 1
        Allocate cudaHostRegister 3, 8192 bytes, pinned
        CopyWithin in, cudaHostRegister 3 + 64 to cudaMalloc 2, 1024 bytes, stream 1
        CopyWithin out, cudaMalloc 2 to cudaHostRegister 3, 1024 bytes, stream 0
        Wait event -1, stream -1, of 0
        Wait event -1, stream -1, of -1
        """,
    ),
    "rows": (
        ROWS,
        """\
        Allocate cudaHostAlloc 1, 300 bytes, pinned
        Allocate cudaMalloc 2, 512 bytes
        Together what copy, n 3
        CopyWithin in, cudaHostAlloc 1 to cudaMalloc 2, 90 bytes, stream 0
        CopyWithin in, cudaHostAlloc 1 + 100 to cudaMalloc 2 + 128, 90 bytes, stream 0
        CopyWithin in, cudaHostAlloc 1 + 200 to cudaMalloc 2 + 256, 90 bytes, stream 0
        TogetherEnd
        Together what copy, n 2
        CopyWithin out, cudaMalloc 2 to cudaHostAlloc 1, 90 bytes, stream 0
        CopyWithin out, cudaMalloc 2 + 128 to cudaHostAlloc 1 + 100, 90 bytes, stream 0
        TogetherEnd
        Wait event -1, stream -1, of 0
        Together what copy, n 2
        Wait event -1, stream -1, of 0
        CopyOut cudaMalloc 2, 90 bytes, stream 0
        CopyOut cudaMalloc 2 + 128, 90 bytes, stream 0
        TogetherEnd
        Together what copy, n 2
        Fill cudaMalloc 2, 90 bytes, stream 0
        Fill cudaMalloc 2 + 128, 90 bytes, stream 0
        TogetherEnd
        Fill cudaMalloc 2, 256 bytes, stream 0
        Wait event -1, stream -1, of -1
        """,
    ),
    "graph": (
        GRAPH,
        """\
        Allocate cudaMalloc 1, 1024 bytes
        Allocate cudaMalloc 2, 1024 bytes
        Allocate cudaHostAlloc 3, 1024 bytes, pinned
        HostCall kind other, n 1
        HostCall kind other, n 1
        HostCall kind other, n 1
        HostCall kind other, n 1
        Load
        NonBlocking stream 3
        HostCall kind graph_instantiate, n 4
        Together what graph, n 4
        Event event 4, stream 1
        Wait event 4, stream 3, of -1
        Together what copy, n 2
        CopyWithin in, cudaHostAlloc 3 to cudaMalloc 1, 256 bytes, stream 1
        CopyWithin in, cudaHostAlloc 3 + 512 to cudaMalloc 1 + 512, 256 bytes, stream 1
        TogetherEnd
        Event event 2, stream 1
        Launch add<<<1, 32, 0, 1>>>, stream 1
        Wait event 2, stream 3, of -1
        Launch add<<<1, 64, 0, 3>>>, stream 3
        Event event 3, stream 3
        Wait event 3, stream 1, of -1
        CopyWithin out, cudaMalloc 1 to cudaHostAlloc 3, 1024 bytes, stream 1
        Wait event 3, stream 1, of -1
        TogetherEnd
        Wait event -1, stream -1, of 1
        HostCall kind graph_update, n 4
        Wait event -1, stream -1, of -1
        """,
    ),
    "host function": (
        HOST_FUNCTION,
        """\
        Allocate cudaMallocAsync 1, 128 bytes, later
        HostCall kind other, n 1
        Load
        Launch add<<<1, 32, 0, 1>>>, stream 1
        Wait event -1, stream -1, of -2
        HostFunction stream 1
        Wait event -1, stream -1, of -2
        HostFunction stream 1
        HostTime
        HostCall kind symbol_copy, n 1
        CopyIn constants of program.cu, 4 bytes, stream 0
        HostCall kind other, n 1
        Wait event -1, stream -1, of -1
        """,
    ),
}


class Told:
    """The commands of a session as lines: memory by the names of its allocations, and how far behind their start."""

    def __init__(self):
        self.lines: list[str] = []

    def watch(self, device):
        carry_out, memory = device.executor.submit, device.executor.memory

        def submit(command):
            self.lines.append(self.line(command, memory))
            return carry_out(command)

        device.executor.submit = submit
        return device

    def line(self, command, memory) -> str:
        name = type(command).__name__
        match command:
            case cmd.Allocate():
                words = [command.name, f"{command.nbytes} bytes", "later" * command.is_later]
                words += [command.memory] if command.memory != "device" else []
            case cmd.HostTouch():
                words = [f"{place(memory, address)}, {nbytes} bytes" for address, nbytes in command.ranges]
            case cmd.Prefetch() | cmd.Advise():
                values = list(vars(command).items())[2:]
                words = [place(memory, command.address), f"{command.nbytes} bytes"]
                words += [f"{field} {value}" for field, value in values]
            case cmd.CopyWithin():
                places = [place(memory, each) for each in (command.source, command.destination)]
                words = [command.direction, " to ".join(places), f"{command.nbytes} bytes", f"stream {command.stream}"]
            case cmd.CopyIn() | cmd.CopyOut() | cmd.Fill():
                nbytes = len(command.data) if isinstance(command, cmd.CopyIn) else command.nbytes
                words = [place(memory, command.address), f"{nbytes} bytes", f"stream {command.stream}"]
                words += ["pinned" * getattr(command, "is_pinned", False)]
            case cmd.Launch():
                words = [command.name, f"stream {command.stream}"]
            case cmd.Load() | cmd.HostTime():  # what its time is, the costs of calls say
                words = []
            case _:
                words = [f"{field} {value}" for field, value in vars(command).items()]
        return ", ".join(filter(None, [f"{name} {words[0]}" if words else name, *words[1:]]))


def place(memory, address: int) -> str:
    held = memory.at(address)
    behind = address - held.address
    return f"{held.name} + {behind}" if behind else held.name


def asked(source: str, tmp_path, monkeypatch) -> list[str]:
    """The commands of a program, which ends with 0."""
    told, open_device = Told(), program_run.open_device
    monkeypatch.setattr(program_run, "open_device", lambda *words, **more: told.watch(open_device(*words, **more)))
    (tmp_path / "program.cu").write_text(HEAD + source)
    assert run_program([tmp_path / "program.cu"], [], Settings(is_timed=False)) == 0
    return [line.replace(f"{tmp_path}/", "") for line in told.lines]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_program_asks(name, tmp_path, monkeypatch):
    source, expected = PROGRAMS[name]
    assert asked(source, tmp_path, monkeypatch) == [line.strip() for line in expected.strip().splitlines()]


COPIES = [
    ("stream 1", "copy to device", "copy to device cudaMalloc 2"),
    ("stream 1", "copy to host", "copy to host cudaMalloc 2"),
    ("stream 1", "copy within host", "copy within host cudaHostAlloc 1"),
    ("default stream", "copy to device", "copy to device cudaMalloc 2"),
    ("stream 1", "copy to device", "copy to device cudaMalloc 2"),
    ("stream 1", "copy to device", "copy to device cudaMalloc 2"),
    ("default stream", "copy to host", "copy to host cudaMalloc 2"),
]


@pytest.mark.parametrize("flags", [(), ("--save-stream",)], ids=["plain", "saved"])
def test_what_reports_call_the_copies(tmp_path, flags):
    """The same with a stream that is saved, and of its replay."""
    (tmp_path / "program.cu").write_text(HEAD + PIPELINE)
    done = gpuprof("collect", "program.cu", *flags, "-o", "program.gprec", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    if flags:
        assert gpuprof("replay", "program.gprec", "-o", "again.gprec", folder=tmp_path).returncode == 0
    for recording in ("program.gprec", *["again.gprec"] * len(flags)):
        tasks = table(tmp_path, "report", recording, "--page", "tasks")
        assert [(row["Row"], row["Kind"], row["Name"]) for row in tasks if row["Kind"].startswith("copy")] == COPIES
        calls = table(tmp_path, "report", recording, "--page", "api")
        directions = [row["direction"] for row in calls if row["direction"]]
        assert directions == [kind for _, kind, _ in COPIES]
