"""Commands of managed memory: what the program's own code touches of it, prefetches, advice."""

import pytest

from tests.program.hosts import WHY_NOT
from tests.program.test_command_stream import asked
from tests.support.command import process

pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]

TOUCHES = """\
#include <fcntl.h>
#include <unistd.h>
constexpr size_t nbytes = 1 << 20;
int main()
{
    char *p, *other, *locked;
    cudaMallocManaged(&p, nbytes);
    for (size_t i = 0; i < nbytes / 2; ++i)
        p[i] = 1;
    add<<<1, 32>>>((int *)p);
    cudaDeviceSynchronize();
    bool is_right = p[300000] == 1 && p[nbytes - 1] == 0;
    add<<<1, 32>>>((int *)p);
    is_right &= read(open("/dev/zero", O_RDONLY), p + 400000, 100000) == 100000;
    cudaMemset(p, 0, 64);
    is_right &= p[399999] == 1 && p[400000] == 0 && p[499999] == 0 && p[500000] == 1;
    int ends[2];
    is_right &= pipe(ends) == 0 && write(ends[1], p, 1) == 1;
    cudaFree(p);
    cudaMallocManaged(&other, nbytes);
    add<<<1, 32>>>((int *)other);
    cudaDeviceSynchronize();
    is_right &= other == p && other[65536] == 0;
    cudaFree(other);
    cudaMallocHost(&locked, nbytes);
    locked[nbytes - 1] = 1;
    cudaFreeHost(locked);
    cudaMallocManaged(&other, nbytes);
    add<<<1, 32>>>((int *)other);
    is_right &= other == locked;
    return !is_right;
}
"""
# Managed allocations in a block of 64 KiB count as one; accesses to page-locked memory do not count.
NEIGHBOURS = """\
int main()
{
    char *first, *locked, *second, *device, *far;
    cudaMallocManaged(&first, 100);
    cudaMallocHost(&locked, 100);
    cudaMallocManaged(&second, 100);
    cudaMalloc(&device, 100);
    cudaMallocManaged(&far, 70000);
    locked[0] = 1;
    cudaMemset(device, 0, 100);
    bool is_right = locked[0] == 1;
    cudaMemset(device, 0, 100);
    second[0] = 1;
    cudaMemset(device, 0, 100);
    is_right &= far[69999] == 0;
    cudaMemset(device, 0, 100);
    return !is_right;
}
"""
VARIABLES = """\
#include <thread>
#include <vector>
__managed__ int n = 3, numbers[40000];
void set(void *p) { *(int *)p = 4; }
int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    bool is_right = n == 3;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    add<<<1, 1, 0, stream>>>(&n);
    cudaLaunchHostFunc(stream, set, numbers + 39999);
    add<<<1, 1, 0, stream>>>(&n);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    is_right &= n == 5 && numbers[39999] == 4;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([=] { numbers[i] = i; });
    for (std::thread &thread : threads)
        thread.join();
    cudaEvent_t event;
    cudaEventCreate(&event);
    cudaEventRecord(event);
    return !is_right;
}
"""
WISHES = """\
#include <cuda.h>
int main()
{
    char *p;
    cudaStream_t stream, captured;
    const cudaMemLocation host = {cudaMemLocationTypeHost, 0}, device = {cudaMemLocationTypeDevice, 0};
    cudaStreamCreate(&stream);
    cudaMallocManaged(&p, 8192);
    cudaMemPrefetchAsync(p, 8192, 0, stream);
    cudaMemPrefetchAsync(p, 4096, host, 0, stream);
    void *parts[] = {p, p + 4096};
    size_t sizes[] = {4096, 2048}, first_of[] = {0, 1};
    cudaMemLocation places[] = {device, host};
    cudaMemPrefetchBatchAsync(parts, sizes, 2, places, first_of, 2, 0, stream);
    cuMemPrefetchAsync((CUdeviceptr)p, 100, 0, stream);
    cudaMemAdvise(p, 8192, cudaMemAdviseSetReadMostly, 0);
    cudaMemAdvise(p, 4096, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);
    cudaMemAdvise(p, 4096, cudaMemAdviseUnsetPreferredLocation, cudaCpuDeviceId);
    cudaMemAdvise(p, 8192, cudaMemAdviseSetAccessedBy, device);
    cuMemAdvise((CUdeviceptr)p, 8192, CU_MEM_ADVISE_UNSET_ACCESSED_BY, CU_DEVICE_CPU);
    int place;
    cudaMemRangeGetAttribute(&place, 4, cudaMemRangeAttributeLastPrefetchLocation, p, 100);
    cudaGraph_t graph;
    cudaStreamCreate(&captured);
    cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed);
    const bool is_refused = cudaMemPrefetchAsync(p, 8192, 0, captured) == cudaErrorStreamCaptureUnsupported;
    cudaStreamEndCapture(captured, &graph);
    return !is_refused || place != 0 || cudaMemPrefetchAsync(p, 9000, 0, stream) != cudaErrorInvalidValue;
}
"""
# The host's own memory is not watched.
NONE = """\
int main()
{
    int *host, *device;
    cudaMallocHost(&host, 128);
    cudaMalloc(&device, 128);
    host[0] = 1;
    cudaMemcpy(device, host, 128, cudaMemcpyHostToDevice);
    add<<<1, 32>>>(device);
    return host[0] != 1;
}
"""
PROGRAMS = {
    "touches": (
        TOUCHES,
        """\
        Allocate cudaMallocManaged 1, 1048576 bytes, managed
        Load
        HostTouch cudaMallocManaged 1, 524288 bytes
        Launch add<<<1, 32>>>, stream 0
        Wait event -1, stream -1, of -1
        HostTouch cudaMallocManaged 1 + 262144, 65536 bytes, cudaMallocManaged 1 + 983040, 65536 bytes
        Launch add<<<1, 32>>>, stream 0
        HostTouch cudaMallocManaged 1 + 393216, 131072 bytes
        Fill cudaMallocManaged 1, 64 bytes, stream 0
        HostTouch cudaMallocManaged 1, 65536 bytes, cudaMallocManaged 1 + 393216, 131072 bytes
        Wait event -1, stream -1, of -1
        Free address 30064771072
        Allocate cudaMallocManaged 2, 1048576 bytes, managed
        Launch add<<<1, 32>>>, stream 0
        Wait event -1, stream -1, of -1
        HostTouch cudaMallocManaged 2 + 65536, 65536 bytes
        Wait event -1, stream -1, of -1
        Free address 30064771072
        Allocate cudaHostAlloc 3, 1048576 bytes, pinned
        Wait event -1, stream -1, of -1
        Free address 30064771072
        Allocate cudaMallocManaged 4, 1048576 bytes, managed
        Launch add<<<1, 32>>>, stream 0
        Wait event -1, stream -1, of -1
        """,
    ),
    "neighbours": (
        NEIGHBOURS,
        """\
        Allocate cudaMallocManaged 1, 100 bytes, managed
        Allocate cudaHostAlloc 2, 100 bytes, pinned
        Allocate cudaMallocManaged 3, 100 bytes, managed
        Allocate cudaMalloc 4, 100 bytes
        Allocate cudaMallocManaged 5, 70000 bytes, managed
        Fill cudaMalloc 4, 100 bytes, stream 0
        Fill cudaMalloc 4, 100 bytes, stream 0
        HostTouch cudaMallocManaged 1, 100 bytes, cudaMallocManaged 3, 100 bytes, cudaMallocManaged 5, 49152 bytes
        Fill cudaMalloc 4, 100 bytes, stream 0
        HostTouch cudaMallocManaged 5 + 49152, 20848 bytes
        Fill cudaMalloc 4, 100 bytes, stream 0
        Wait event -1, stream -1, of -1
        """,
    ),
    "variables": (
        VARIABLES,
        """\
        Allocate __managed__ variables 1, 160256 bytes, managed
        Load
        HostTouch n, 65536 bytes
        Together what graph, n 3
        Launch add<<<1, 1, 0, 1>>>, stream 1
        Wait event -1, stream -1, of -2
        HostFunction stream 1
        HostTouch numbers + 130816, 29184 bytes
        Launch add<<<1, 1, 0, 1>>>, stream 1
        TogetherEnd
        Wait event -1, stream -1, of 1
        HostTouch n, 65536 bytes, numbers + 130816, 29184 bytes
        Event event 0, stream 0
        Wait event -1, stream -1, of -1
        """,
    ),
    "wishes": (
        WISHES,
        """\
        Allocate cudaMallocManaged 1, 8192 bytes, managed
        Prefetch cudaMallocManaged 1, 8192 bytes, to_host False, stream 1
        Prefetch cudaMallocManaged 1, 4096 bytes, to_host True, stream 1
        Prefetch cudaMallocManaged 1, 4096 bytes, to_host False, stream 1
        Prefetch cudaMallocManaged 1 + 4096, 2048 bytes, to_host True, stream 1
        Prefetch cudaMallocManaged 1, 100 bytes, to_host False, stream 1
        Advise cudaMallocManaged 1, 8192 bytes, advice read mostly, is_on True, to_host False
        Advise cudaMallocManaged 1, 4096 bytes, advice preferred location, is_on True, to_host True
        Advise cudaMallocManaged 1, 4096 bytes, advice preferred location, is_on False, to_host False
        Advise cudaMallocManaged 1, 8192 bytes, advice accessed by, is_on True, to_host False
        Advise cudaMallocManaged 1, 8192 bytes, advice accessed by, is_on False, to_host True
        Wait event -1, stream -1, of -1
        """,
    ),
    "none": (
        NONE,
        """\
        Allocate cudaHostAlloc 1, 128 bytes, pinned
        Allocate cudaMalloc 2, 128 bytes
        CopyWithin in, cudaHostAlloc 1 to cudaMalloc 2, 128 bytes, stream 0
        Wait event -1, stream -1, of 0
        Load
        Launch add<<<1, 32>>>, stream 0
        Wait event -1, stream -1, of -1
        """,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_program_asks_of_managed_memory(name, tmp_path, monkeypatch):
    source, expected = PROGRAMS[name]
    lines = [line for line in asked(source, tmp_path, monkeypatch) if not line.startswith("HostCall")]
    assert lines == [line.strip() for line in expected.strip().splitlines()]


# Without a free descriptor the page tables cannot be opened.
NO_PAGE_TABLES = """\
#include <cuda_runtime.h>
#include <sys/resource.h>
__global__ void add(int *x) { x[threadIdx.x] += 1; }
int main()
{
    int *p;
    cudaMallocManaged(&p, 4096);
    const rlimit none = {3, 3};
    setrlimit(RLIMIT_NOFILE, &none);
    for (int i = 0; i < 2; i++) {
        p[64 + i * 32] = 1;
        add<<<1, 32>>>(p);
        cudaDeviceSynchronize();
    }
    return p[0] - 2;
}
"""


def test_a_system_without_page_tables_is_named_once(tmp_path):
    (tmp_path / "app.cu").write_text(NO_PAGE_TABLES)
    code, _, error = process(tmp_path, "collect", "app.cu")
    said = "gpuprof: /proc/self/pagemap cannot be read: touches of managed memory by the host move no pages\n"
    assert (code, error.count(said)) == (0, 1)
