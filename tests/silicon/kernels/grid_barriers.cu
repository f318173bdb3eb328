// Barriers of the whole grid: of cooperative groups, and written by hand.
#include <cooperative_groups.h>

// Nothing but barriers.
__global__ void syncs(int turns)
{
    auto grid = cooperative_groups::this_grid();
    for (int turn = 0; turn < turns; turn++)
        grid.sync();
}

__device__ void scale(double *to, const double *from, unsigned n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        to[i] = from[i] * 0.25;
}

// A small step and a barrier.
__global__ void steps(double *a, double *b, unsigned n, int turns)
{
    auto grid = cooperative_groups::this_grid();
    for (int turn = 0; turn < turns; turn++) {
        scale(turn & 1 ? b : a, turn & 1 ? a : b, n);
        grid.sync();
    }
}

// The same; blocks count in a word of each turn.
__global__ void steps_by_hand(double *a, double *b, unsigned *arrived, unsigned n, int turns)
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
