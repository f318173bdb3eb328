// empties WAY N BLOCKS THREADS: N kernels that do nothing. WAY: launches, graph (nodes one after the other), gridsync
// (one cooperative kernel with N barriers), by events around all of them; period (the time of one of N launches),
// roundtrip (launch and wait, by the host's clock, the least of N), histogram (the period of a launch that counts two
// numbers in 512 bins, as nvbench's batch takes it).
#include "figure.h"
#include <cooperative_groups.h>

__global__ void nothing() {}

__global__ void syncs(int n)
{
    auto grid = cooperative_groups::this_grid();
    for (int i = 0; i < n; i++)
        grid.sync();
}

__global__ void count(const unsigned *numbers, unsigned *bins, int n)
{
    __shared__ unsigned own[512];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&own[numbers[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

static double in_graph_us(int n, int blocks, int threads)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < n; i++)
        nothing<<<blocks, threads, 0, stream>>>();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    Events events;
    events.begin(stream);
    CHECK(cudaGraphLaunch(ready, stream));
    return events.end_us(stream);
}

static double roundtrip_us(int n, int blocks, int threads)
{
    double least = 1e9;
    for (int i = 0; i < n; i++) {
        double begun = now_us();
        nothing<<<blocks, threads>>>();
        CHECK(cudaDeviceSynchronize());
        double took = now_us() - begun;
        least = took < least ? took : least;
    }
    return least;
}

static double counts_us(int n, int blocks, int threads)
{
    unsigned *numbers, *bins;
    CHECK(cudaMalloc(&numbers, 8));
    CHECK(cudaMalloc(&bins, 512 * sizeof(unsigned)));
    CHECK(cudaMemset(numbers, 0, 8));
    CHECK(cudaMemset(bins, 0, 512 * sizeof(unsigned)));
    CHECK(cudaDeviceSynchronize());
    Events events;
    busy<<<1, 1>>>(4 * AHEAD);
    events.begin();
    for (int i = 0; i < n; i++)
        count<<<blocks, threads>>>(numbers, bins, 2);
    return events.end_us();
}

int main(int, char **argv)
{
    const char *way = argv[1];
    int n = std::atoi(argv[2]), blocks = std::atoi(argv[3]), threads = std::atoi(argv[4]);
    nothing<<<blocks, threads>>>();
    CHECK(cudaDeviceSynchronize());
    if (is(way, "graph"))
        return figure(in_graph_us(n, blocks, threads));
    if (is(way, "roundtrip"))
        return figure(roundtrip_us(n, blocks, threads));
    if (is(way, "histogram"))
        return figure(counts_us(n, blocks, threads) / n);
    Events events;
    events.begin();
    if (is(way, "gridsync")) {
        void *arguments[] = {&n};
        CHECK(cudaLaunchCooperativeKernel((void *)syncs, dim3(blocks), dim3(threads), arguments));
        return figure(events.end_us());
    }
    for (int i = 0; i < n; i++)
        nothing<<<blocks, threads>>>();
    double us = events.end_us();
    if (is(way, "launches"))
        return figure(us);
    return is(way, "period") ? figure(us / n) : unknown(way);
}
