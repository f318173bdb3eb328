// A graph put together node by node, whose kernel's parameters change between launches; a copy of it stays as it was.
#include "check.h"
__global__ void add(int *p, int n, int what)
{
    if (const int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)
        p[i] += what;
}
int main()
{
    const int n = 100;
    int *device, host[n], what = 1, size = n;
    CHECK(cudaMalloc(&device, sizeof host));
    cudaGraph_t graph, copy;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams zero = {};
    zero.dst = device, zero.value = 0, zero.elementSize = 4, zero.width = n, zero.height = 1;
    cudaGraphNode_t fill, kernel, back;
    CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
    void *arguments[] = {&device, &size, &what};
    cudaKernelNodeParams how = {};
    how.func = (void *)add, how.gridDim = dim3(2), how.blockDim = dim3(64), how.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &how));
    CHECK(cudaGraphAddMemcpyNode1D(&back, graph, &kernel, 1, host, device, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphClone(&copy, graph));
    cudaGraphExec_t exec, exec_of_copy;
    CHECK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    CHECK(cudaGraphInstantiate(&exec_of_copy, copy, nullptr, nullptr, 0));
    bool is_right = true;
    for (what = 1; what < 5; ++what) {
        CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &how));
        CHECK(cudaGraphLaunch(exec, 0));
        CHECK(cudaDeviceSynchronize());
        for (int each : host)
            is_right &= each == what;
    }
    CHECK(cudaGraphLaunch(exec_of_copy, 0));
    CHECK(cudaDeviceSynchronize());
    for (int each : host)
        is_right &= each == 1;
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphExecDestroy(exec_of_copy));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(copy));
    return verdict(is_right);
}
