// rounds WAY ROUNDS: the time of a round of a solver of many rounds, each of which reads and writes a million numbers,
// by events around all of them (gunrock's question of 20,000 rounds). WAY: launches, graph, gridsync.
#include "figure.h"
#include <cooperative_groups.h>

constexpr unsigned N = 1024000;
constexpr int BLOCKS = 512, THREADS = 256;

__device__ void add(unsigned *values, int *round, int r)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        round[(r + 1) % 2] = r + 1;
    for (unsigned i = blockDim.x * blockIdx.x + threadIdx.x; i < N; i += blockDim.x * gridDim.x)
        values[i] += round[r % 2];
}

__global__ void one(unsigned *values, int *round, int r) { add(values, round, r); }

__global__ void all(unsigned *values, int *round, int rounds)
{
    auto grid = cooperative_groups::this_grid();
    for (int r = 0; r < rounds; r++) {
        add(values, round, r);
        grid.sync();
    }
}

static void launch_all(unsigned *values, int *round, int rounds, cudaStream_t stream)
{
    for (int r = 0; r < rounds; r++)
        one<<<BLOCKS, THREADS, 0, stream>>>(values, round, r);
}

int main(int, char **argv)
{
    const char *way = argv[1];
    int rounds = std::atoi(argv[2]);
    unsigned *values;
    int *round;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaMalloc(&values, N * sizeof(unsigned)));
    CHECK(cudaMalloc(&round, 2 * sizeof(int)));
    CHECK(cudaMemset(values, 0, N * sizeof(unsigned)));
    CHECK(cudaMemset(round, 0, 2 * sizeof(int)));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch_all(values, round, rounds, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
    CHECK(cudaDeviceSynchronize());
    launch_all(values, round, 1, stream);
    CHECK(cudaDeviceSynchronize());
    Events events;
    events.begin(stream);
    if (is(way, "launches")) {
        launch_all(values, round, rounds, stream);
    } else if (is(way, "graph")) {
        CHECK(cudaGraphLaunch(ready, stream));
    } else {
        void *arguments[] = {&values, &round, &rounds};
        CHECK(cudaLaunchCooperativeKernel((void *)all, dim3(BLOCKS), dim3(THREADS), arguments, 0, stream));
    }
    return figure(events.end_us(stream) / rounds);
}
