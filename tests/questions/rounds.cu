// The same small step, ROUNDS times: as launches, as a graph of launches, and as one cooperative launch.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { std::printf("%s: %s\n", #call, cudaGetErrorString(e)); std::exit(1); } } while (0)

__device__ __forceinline__ void step(unsigned *values, int *round, int r, unsigned long long i)
{
    if (i == 0) round[(r + 1) % 2] = r + 1;
    if (r == 0) values[i] = (unsigned)i;
    else values[i] += round[r % 2];
}

__global__ void one_round(unsigned *values, int *round, int r, unsigned long long n)
{
    for (unsigned long long i = (unsigned long long)blockDim.x * blockIdx.x + threadIdx.x; i < n; i += (unsigned long long)blockDim.x * gridDim.x)
        step(values, round, r, i);
}

__global__ void all_rounds(unsigned *values, int *round, int rounds, unsigned long long n)
{
    auto grid = cooperative_groups::this_grid();
    for (int r = 0; r < rounds; r++) {
        for (unsigned long long i = (unsigned long long)blockDim.x * blockIdx.x + threadIdx.x; i < n; i += (unsigned long long)blockDim.x * gridDim.x)
            step(values, round, r, i);
        grid.sync();
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? std::atoi(argv[1]) : 4;
    unsigned long long n = 1024000;
    unsigned *values; int *round;
    CHECK(cudaMalloc(&values, n * 4));
    CHECK(cudaMalloc(&round, 8));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin)); CHECK(cudaEventCreate(&end));
    cudaGraph_t graph; cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int r = 0; r < rounds; r++) one_round<<<512, 256, 0, stream>>>(values, round, r, n);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, NULL, NULL, 0));
    for (int way = 0; way < 3; way++) {
        CHECK(cudaMemset(round, 0, 8));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventRecord(begin, stream));
        if (way == 0)
            for (int r = 0; r < rounds; r++) one_round<<<512, 256, 0, stream>>>(values, round, r, n);
        if (way == 1) CHECK(cudaGraphLaunch(ready, stream));
        if (way == 2) {
            void *arguments[] = {&values, &round, &rounds, &n};
            CHECK(cudaLaunchCooperativeKernel((void *)all_rounds, dim3(512), dim3(256), arguments, 0, stream));
        }
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        const char *names[] = {"launches", "graph", "cooperative"};
        std::printf("%-12s %8.2f us, %6.2f us a round\n", names[way], ms * 1e3, ms * 1e3 / rounds);
    }
    std::vector<unsigned> back(n);
    CHECK(cudaMemcpy(back.data(), values, n * 4, cudaMemcpyDeviceToHost));
    unsigned extra = rounds * (rounds - 1) / 2;
    for (unsigned long long i = 0; i < n; i++) if (back[i] != i + extra) { std::printf("FAIL at %llu\n", i); return 1; }
    std::printf("PASS\n");
}
