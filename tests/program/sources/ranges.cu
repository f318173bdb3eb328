// Ranges of NVTX, and tasks and relations that the program states.
#include <cstdio>
#include <gpuprof/task.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvtx3.hpp>
#include <string>
#include <thread>
__global__ void add(int *p, int v) { *p += v; }
static void inner(int *p)
{
    NVTX3_FUNC_RANGE();
    add<<<1, 1>>>(p, 2);
}
int main()
{
    int *p, *q, levels[3];
    cudaMalloc(&p, 4);
    cudaMalloc(&q, 4);
    levels[0] = nvtxRangePushA("outer");
    levels[1] = nvtxRangePushA("middle");
    inner(p);
    nvtxRangePop();
    nvtxRangeId_t first = nvtxRangeStartA("first"), second = nvtxRangeStartA("second");
    add<<<1, 1>>>(p, 3);
    nvtxRangeEnd(first);
    add<<<1, 1>>>(p, 4);
    nvtxRangeEnd(second);
    std::thread([p] {
        nvtx3::scoped_range beside(std::string("beside"));
        add<<<1, 1>>>(p, 5);
    }).join();
    levels[2] = nvtxRangePop();
    printf("%d %d %d %d\n", levels[0], levels[1], levels[2], nvtxRangePop());
    {
        gpuprof::task before("before");
        add<<<1, 1>>>(p, 6);
        before.end();
        gpuprof::task layer("layer");
        const bool is_right = layer.depends_on(before) && layer.parameter("depth", 3) && layer.parameter("kind", "dense") && layer.consumes(p);
        add<<<1, 1>>>(q, 7);
        gpuprof::task launched(gpuprof::last);
        printf("%d %d\n", is_right, launched.produces(q) && !layer.relate("loves", before));
    }
    cudaDeviceSynchronize();
}
