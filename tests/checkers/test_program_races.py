"""racecheck of whole programs: what orders two kernels of several streams, told by the calls of the CUDA runtime."""

import re

import pytest

from tests.checkers.test_told import WHY_NOT
from tests.support.command import process

PRELUDE = """\
#include <cuda_runtime.h>
int *x, *y, *pinned, host[64];
cudaStream_t a, b, n;
cudaEvent_t e, never;
void nothing(void *) {}
template <int k> __global__ void put() { }
"""
TAKE, GIVE = "int *kept = x; cudaMallocAsync(&x, 256, a); cudaStreamSynchronize(a);", "x = kept;"
# name -> the calls, with `put` writing x and `get` reading it, and whether that is a race
CASES = {
    "two_streams": ("put(a); get(b);", True),
    "one_stream": ("put(a); get(a);", False),
    "event": ("put(a); cudaEventRecord(e, a); cudaStreamWaitEvent(b, e, 0); get(b);", False),
    "event_too_early": ("cudaEventRecord(e, a); put(a); cudaStreamWaitEvent(b, e, 0); get(b);", True),
    "event_never_recorded": ("put(a); cudaStreamWaitEvent(b, never, 0); get(b);", True),
    "event_of_the_wrong_stream": ("put(a); cudaEventRecord(e, n); cudaStreamWaitEvent(b, e, 0); get(b);", True),
    "host_waits": ("put(a); cudaStreamSynchronize(a); get(b);", False),
    "host_waits_for_the_wrong_stream": ("put(a); cudaStreamSynchronize(b); get(b);", True),
    "host_waits_for_event": ("put(a); cudaEventRecord(e, a); cudaEventSynchronize(e); get(b);", False),
    "host_waits_for_early_event": ("cudaEventRecord(e, a); put(a); cudaEventSynchronize(e); get(b);", True),
    "host_asks": ("put(a); while (cudaStreamQuery(a) != cudaSuccess) {} get(b);", False),
    "host_function": ("put(a); cudaLaunchHostFunc(a, nothing, nullptr); get(b);", True),
    "device_waits": ("put(a); cudaDeviceSynchronize(); get(b);", False),
    "default_stream": ("put(0); get(b);", False),
    "default_stream_and_non_blocking": ("put(0); get(n);", True),
    "non_blocking_and_default_stream": ("put(n); get(0);", True),
    "copy_to_the_host": ("put(a); cudaMemcpyAsync(host, x, 256, cudaMemcpyDeviceToHost, b);", True),
    "copy_waits_for_its_stream": ("put(a); cudaMemcpyAsync(host, y, 256, cudaMemcpyDeviceToHost, a); get(b);", False),
    "copy_to_pinned_memory": ("put(a); cudaMemcpyAsync(pinned, x, 256, cudaMemcpyDeviceToHost, b);", True),
    "copy_to_pinned_does_not_wait": (
        "put(a); cudaMemcpyAsync(pinned, y, 256, cudaMemcpyDeviceToHost, a); get(b);",
        True,
    ),
    "fill": ("cudaMemsetAsync(x, 0, 256, a); get(b);", True),
    "fill_of_the_default_stream": ("cudaMemset(x, 0, 256); get(n);", True),
    "copy_from_the_host": ("cudaMemcpy(x, host, 256, cudaMemcpyHostToDevice); get(n);", False),
    "copy_from_pinned_memory": ("cudaMemcpy(x, pinned, 256, cudaMemcpyHostToDevice); get(n);", False),
    "copy_from_pinned_does_not_wait": (
        "cudaMemcpyAsync(x, pinned, 256, cudaMemcpyHostToDevice, 0); get(n);",
        True,
    ),
    "copy_within": ("cudaMemcpy(x, y + 64, 256, cudaMemcpyDeviceToDevice); get(n);", True),
    "free": ("put(a); int *z; cudaMalloc(&z, 4); cudaFree(z); get(b);", False),
    "freed_behind_its_use": (f"{TAKE} put(a); cudaFreeAsync(x, a); {GIVE}", False),
    "freed_beside_its_use": (f"{TAKE} put(a); cudaFreeAsync(x, b); {GIVE}", True),
    "freed_before_a_use": (f"{TAKE} cudaFreeAsync(x, a); put(a); {GIVE}", True),
    "graph": ("graph(false);", False),
    "graph_with_two_ways": ("graph(true);", True),
}
GRAPH = """
template <class Put, class Get> void make_graph(bool is_racy, Put put, Get get)
{
    cudaGraph_t made;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(n, cudaStreamCaptureModeRelaxed);
    cudaEventRecord(e, n);
    cudaStreamWaitEvent(b, e, 0);
    put(n);
    if (!is_racy) {
        cudaEventRecord(e, n);
        cudaStreamWaitEvent(b, e, 0);
    }
    get(b);
    cudaEventRecord(e, b);
    cudaStreamWaitEvent(n, e, 0);
    cudaStreamEndCapture(n, &made);
    cudaGraphInstantiateWithFlags(&exec, made, 0);
    cudaGraphLaunch(exec, n);
    cudaEventCreate(&e);
}
"""


def source() -> str:
    """Each case with kernels of its own, whose names the findings have."""
    parts = [PRELUDE.replace("template <int k> __global__ void put() { }\n", ""), GRAPH]
    for name, (calls, _) in CASES.items():
        parts.append(f"""
__global__ void put_{name}(int *x) {{ x[threadIdx.x] = threadIdx.x; }}
__global__ void get_{name}(int *x, int *y) {{ y[threadIdx.x] = x[threadIdx.x]; }}
void case_{name}()
{{
    auto put = [](cudaStream_t s) {{ put_{name}<<<1, 64, 0, s>>>(x); }};
    auto get = [](cudaStream_t s) {{ get_{name}<<<1, 64, 0, s>>>(x, y); }};
    auto graph = [&](bool is_racy) {{ make_graph(is_racy, put, get); }};
    (void)put; (void)get; (void)graph;
    {calls}
    cudaDeviceSynchronize();
}}
""")
    parts.append("""
int main()
{
    cudaMalloc(&x, 256), cudaMalloc(&y, 512), cudaMallocHost(&pinned, 256);
    cudaStreamCreate(&a), cudaStreamCreate(&b), cudaStreamCreateWithFlags(&n, cudaStreamNonBlocking);
    cudaEventCreate(&e), cudaEventCreate(&never);
""")
    parts += [f"    case_{name}();\n" for name in CASES]
    return "".join([*parts, "}\n"])


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
@pytest.mark.long
def test_what_orders_kernels_of_a_program(tmp_path):
    """In the run, in a profile of it, and when its commands are carried out again."""
    (tmp_path / "app.cu").write_text(source())
    for command in ("run app.cu", "collect app.cu --save-stream", "replay app.gprec"):
        code, _, error = process(tmp_path, *command.split(), "--trace", "racecheck", "--limit", "99")
        assert code == 0, error
        told = {name for name in CASES if re.search(rf"stream_.*: (get|put)_{name}: ", error)}
        assert told == {name for name, (_, is_racy) in CASES.items() if is_racy}, command
