// Threads of the host capture a graph each at once, instantiate and launch it. Their streams do not block: cudaMemcpy
// belongs to the legacy stream, which no thread may use while a blocking stream captures.
#include "check.h"
#include <thread>
__global__ void step(int *p, int factor, int more) { *p = *p * factor + more; }
static void work(int factor, int *found)
{
    int *p;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&p, sizeof *p));
    for (int round = 0; round < 10; ++round) {
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        CHECK(cudaMemsetAsync(p, 0, sizeof *p, stream));
        for (int i = 1; i <= 5; ++i)
            step<<<1, 1, 0, stream>>>(p, factor, i);
        CHECK(cudaStreamEndCapture(stream, &graph));
        size_t n;
        CHECK(cudaGraphGetNodes(graph, nullptr, &n));
        CHECK(cudaGraphInstantiate(&exec, graph, 0));
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(&found[round], p, sizeof *p, cudaMemcpyDeviceToHost));
        found[round] += 1000000 * int(n == 6);
        CHECK(cudaGraphExecDestroy(exec));
        CHECK(cudaGraphDestroy(graph));
    }
    CHECK(cudaFree(p));
    CHECK(cudaStreamDestroy(stream));
}
int main()
{
    int found[4][10];
    std::thread threads[4];
    for (int i = 0; i < 4; ++i)
        threads[i] = std::thread(work, i + 2, found[i]);
    bool is_right = true;
    for (int i = 0; i < 4; ++i) {
        threads[i].join();
        int expected = 0;
        for (int j = 1; j <= 5; ++j)
            expected = expected * (i + 2) + j;
        for (int each : found[i])
            is_right &= each == expected + 1000000;
    }
    return verdict(is_right);
}
