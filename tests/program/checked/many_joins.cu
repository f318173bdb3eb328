// A captured graph that forks and joins many times: there are 2^60 ways through it.
#include "check.h"
__global__ void add(int *p) { *p += 1; }
int main()
{
    constexpr int n_forks = 60;
    int *n, found[3];
    cudaStream_t first, second;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaMalloc(&n, 12));
    CHECK(cudaMemset(n, 0, 12));
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < n_forks; ++i) {
        add<<<1, 1, 0, first>>>(n);
        CHECK(cudaEventRecord(fork, first));
        CHECK(cudaStreamWaitEvent(second, fork));
        add<<<1, 1, 0, first>>>(n + 1);
        add<<<1, 1, 0, second>>>(n + 2);
        CHECK(cudaEventRecord(join, second));
        CHECK(cudaStreamWaitEvent(first, join));
    }
    CHECK(cudaStreamEndCapture(first, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, first));
    CHECK(cudaMemcpy(found, n, 12, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int each : found)
        is_right = is_right && each == n_forks;
    return verdict(is_right);
}
