// cooperative WAY THREADS BLOCKS LAUNCHES: the time of one of so many cooperative launches, by events around them, as
// cg_sync takes it. WAY: without (an array is turned round into another), with (in place, a grid.sync between).
#include "figure.h"
#include <cooperative_groups.h>

__global__ void without(int *array, int *other, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    other[n - 1 - i] = array[i];
}

__global__ void with(int *array, int *, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = array[i];
    cooperative_groups::this_grid().sync();
    array[n - 1 - i] = value;
}

int main(int, char **argv)
{
    int threads = std::atoi(argv[2]), blocks = std::atoi(argv[3]), launches = std::atoi(argv[4]);
    int n = threads * blocks;
    int *array, *other;
    CHECK(cudaMalloc(&array, n * sizeof(int)));
    CHECK(cudaMalloc(&other, n * sizeof(int)));
    CHECK(cudaMemset(array, 0, n * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    void *arguments[] = {&array, &other, &n};
    void *kernel = is(argv[1], "with") ? (void *)with : (void *)without;
    CHECK(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments));
    CHECK(cudaDeviceSynchronize());
    Events events;
    events.begin();
    for (int i = 0; i < launches; i++)
        CHECK(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments));
    return figure(events.end_us() / launches);
}
