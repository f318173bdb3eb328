// steps WAY ELEMENTS THREADS MOST TURNS: the period of a small step on one stream, by the host's clock, as
// gpu-benches' gpu-small-kernels takes it. WAY: launches, graph (nodes one after the other), gridsync (one cooperative
// kernel), barrier (one kernel, whose blocks count in a word of each turn). MOST: blocks that the card holds, for the
// last two. The period is the time that 2 * TURNS more turns take, so the first start and the last wait are not in it.
#include "figure.h"
#include <cooperative_groups.h>

__device__ void scale(double *to, const double *from, unsigned n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        to[i] = from[i] * 0.25;
}

__global__ void step(double *to, const double *from, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i] * 0.25;
}

__global__ void by_grid_sync(double *a, double *b, unsigned n, int turns)
{
    auto grid = cooperative_groups::this_grid();
    for (int turn = 0; turn < turns; turn++) {
        scale(turn & 1 ? b : a, turn & 1 ? a : b, n);
        grid.sync();
    }
}

__global__ void by_barrier(double *a, double *b, unsigned n, int turns, unsigned *arrived)
{
    for (int turn = 0; turn < turns; turn++) {
        scale(turn & 1 ? b : a, turn & 1 ? a : b, n);
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(&arrived[turn], 1);
            while (*(volatile unsigned *)&arrived[turn] < gridDim.x)
                ;
        }
        __syncthreads();
    }
}

struct Job {
    const char *way;
    unsigned n;
    int threads, most;
    double *a, *b;
    unsigned *arrived;
    cudaStream_t stream;
};

static void launch_all(const Job &job, int turns)
{
    int blocks = (job.n + job.threads - 1) / job.threads;
    for (int turn = 0; turn < turns; turn++)
        step<<<blocks, job.threads, 0, job.stream>>>(turn & 1 ? job.b : job.a, turn & 1 ? job.a : job.b, job.n);
}

static double graph_us(const Job &job, int turns)
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(job.stream, cudaStreamCaptureModeGlobal));
    launch_all(job, turns);
    CHECK(cudaStreamEndCapture(job.stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
    CHECK(cudaStreamSynchronize(job.stream));
    double begun = now_us();
    CHECK(cudaGraphLaunch(ready, job.stream));
    CHECK(cudaStreamSynchronize(job.stream));
    return now_us() - begun;
}

static double time_us(Job &job, int turns)
{
    if (is(job.way, "graph"))
        return graph_us(job, turns);
    int all = (job.n + job.threads - 1) / job.threads;
    dim3 blocks(all < job.most ? all : job.most);
    CHECK(cudaMemset(job.arrived, 0, turns * sizeof(unsigned)));
    CHECK(cudaDeviceSynchronize());
    double begun = now_us();
    if (is(job.way, "gridsync")) {
        void *arguments[] = {&job.a, &job.b, &job.n, &turns};
        CHECK(cudaLaunchCooperativeKernel((void *)by_grid_sync, blocks, dim3(job.threads), arguments, 0, job.stream));
    } else if (is(job.way, "barrier")) {
        by_barrier<<<blocks, job.threads, 0, job.stream>>>(job.a, job.b, job.n, turns, job.arrived);
    } else {
        launch_all(job, turns);
    }
    CHECK(cudaStreamSynchronize(job.stream));
    return now_us() - begun;
}

int main(int, char **argv)
{
    Job job = {argv[1], (unsigned)std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4])};
    int turns = std::atoi(argv[5]);
    CHECK(cudaMalloc(&job.a, job.n * sizeof(double)));
    CHECK(cudaMalloc(&job.b, job.n * sizeof(double)));
    CHECK(cudaMalloc(&job.arrived, 3 * turns * sizeof(unsigned)));
    CHECK(cudaStreamCreate(&job.stream));
    time_us(job, 1);
    double few = time_us(job, turns), many = time_us(job, 3 * turns);
    return figure((many - few) / (2 * turns));
}
