// scans WAY N: an inclusive scan of N numbers in several launches, by events around them. WAY: shuffles (CUDA sample
// shfl_scan: blocks of 256, their totals, and these added), phases (three-phase scan of tiles of 4096 by 512 threads,
// its totals, and these added, in memory that is allocated and given back each time, with a flushed L2: PMPP).
#include "figure.h"

__device__ int warp_scan(int value)
{
    int lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(0xffffffff, value, step);
        if (lane >= step)
            value += other;
    }
    return value;
}

__global__ void by_shuffles(int *numbers, int *totals)
{
    __shared__ int sums[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32;
    int value = warp_scan(numbers[i]);
    if (threadIdx.x % 32 == 31)
        sums[warp] = value;
    __syncthreads();
    if (warp == 0 && threadIdx.x < blockDim.x / 32) {
        int total = sums[threadIdx.x], lanes = (1 << blockDim.x / 32) - 1;
        for (int step = 1; step < blockDim.x / 32; step *= 2) {
            int other = __shfl_up_sync(lanes, total, step);
            if (threadIdx.x >= step)
                total += other;
        }
        sums[threadIdx.x] = total;
    }
    __syncthreads();
    if (warp > 0)
        value += sums[warp - 1];
    numbers[i] = value;
    if (totals && threadIdx.x == blockDim.x - 1)
        totals[blockIdx.x] = value;
}

__global__ void add_totals(int *numbers, const int *totals)
{
    __shared__ int before;
    if (threadIdx.x == 0)
        before = totals[blockIdx.x];
    __syncthreads();
    numbers[blockIdx.x * blockDim.x + threadIdx.x] += before;
}

constexpr int TILE = 4096, THREADS = 512, EACH = TILE / THREADS;

__global__ void by_phases(const unsigned *from, unsigned *to, int n, unsigned *totals)
{
    extern __shared__ unsigned tile[];
    int begin = blockIdx.x * TILE, t = threadIdx.x, own = EACH * t;
    for (int i = t; i < TILE; i += THREADS)
        tile[i] = begin + i < n ? from[begin + i] : 0;
    __syncthreads();
    unsigned sum = 0;
    if (begin + own < n)
        for (int i = own; i < own + EACH; i++)
            tile[i] = sum += tile[i];
    __syncthreads();
    for (int step = 1; step <= THREADS; step *= 2) {
        __syncthreads();
        int last = (t + 1) * step * 2 * EACH - 1;
        if (last < TILE)
            tile[last] += tile[last - step * EACH];
    }
    for (int step = TILE / 4; step >= EACH; step /= 2) {
        __syncthreads();
        int last = (t + 1) * step * 2 - 1;
        if (last + step < TILE)
            tile[last + step] += tile[last];
    }
    __syncthreads();
    if (t)
        for (int i = own; i < own + EACH - 1; i++)
            tile[i] += tile[own - 1];
    __syncthreads();
    for (int i = t; i < TILE; i += THREADS)
        if (begin + i < n)
            to[begin + i] = tile[i];
    if (totals && t == THREADS - 1)
        totals[blockIdx.x] = tile[TILE - 1];
}

__global__ void add_tiles(unsigned *numbers, int n, const unsigned *totals)
{
    int begin = blockIdx.x * TILE;
    for (int i = threadIdx.x; i < TILE; i += blockDim.x)
        if (begin + i < n)
            numbers[begin + i] += totals[blockIdx.x];
}

static double shuffles_us(int n)
{
    int *numbers, *totals, blocks = n / 256;
    CHECK(cudaMalloc(&numbers, n * sizeof(int)));
    CHECK(cudaMalloc(&totals, blocks * sizeof(int)));
    CHECK(cudaMemset(numbers, 0, n * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    Events events;
    events.begin();
    by_shuffles<<<blocks, 256>>>(numbers, totals);
    by_shuffles<<<1, 256>>>(totals, nullptr);
    add_totals<<<blocks - 1, 256>>>(numbers + 256, totals);
    return events.end_us();
}

static double phases_us(int n)
{
    unsigned *from, *to, *totals, *cold;
    size_t nbytes = n * sizeof(unsigned), flushed = 1 << 24, shared = TILE * sizeof(unsigned);
    int blocks = (n + TILE - 1) / TILE;
    CHECK(cudaMalloc(&from, nbytes));
    CHECK(cudaMalloc(&to, nbytes));
    CHECK(cudaMalloc(&cold, flushed));
    CHECK(cudaMemset(from, 0, nbytes));
    CHECK(cudaMemset(cold, 0, flushed));
    CHECK(cudaDeviceSynchronize());
    Events events;
    events.begin();
    CHECK(cudaMalloc(&totals, blocks * sizeof(unsigned)));
    by_phases<<<blocks, THREADS, shared>>>(from, to, n, totals);
    if (blocks > 1) {
        by_phases<<<1, THREADS, shared>>>(totals, totals, blocks, nullptr);
        add_tiles<<<blocks - 1, THREADS>>>(to + TILE, n - TILE, totals);
    }
    CHECK(cudaFree(totals));
    return events.end_us();
}

int main(int, char **argv)
{
    int n = std::atoi(argv[2]);
    return figure(is(argv[1], "shuffles") ? shuffles_us(n) : phases_us(n));
}
