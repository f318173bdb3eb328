// What programs ask of a device, and cooperative launches as large as it allows.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void ring(unsigned *p)
{
    cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0)
        atomicAdd(p, 1);
    grid.sync();
    if (threadIdx.x == 0 && blockIdx.x == 0)
        p[1] = p[0];
}
int main()
{
    cudaDeviceProp about;
    int count, sms, blocks, grid, block;
    cudaGetDeviceCount(&count), cudaGetDeviceProperties(&about, 0);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    printf("%d %s %d %d.%d warp %d\n", count, about.name, sms == about.multiProcessorCount, about.major, about.minor, about.warpSize);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, ring, 256, 0);
    cudaOccupancyMaxPotentialBlockSize(&grid, &block, ring);
    cudaFuncAttributes kernel;
    cudaFuncGetAttributes(&kernel, ring);
    printf("%d blocks of 256, block of %d, %d threads at most\n", blocks, block, kernel.maxThreadsPerBlock);
    unsigned *p, host[2];
    cudaMalloc(&p, 8), cudaMemset(p, 0, 8);
    void *arguments[] = {&p};
    cudaError_t error = cudaLaunchCooperativeKernel((void *)ring, sms * blocks + 1, 256, arguments);
    puts(cudaGetErrorName(error));
    error = cudaLaunchCooperativeKernel(ring, 40, 64, arguments);
    cudaMemcpy(host, p, 8, cudaMemcpyDeviceToHost);
    printf("%s %u\n", cudaGetErrorName(error), host[1]);
    size_t free_nbytes, total;
    cudaMemGetInfo(&free_nbytes, &total);
    puts(free_nbytes < total && total - free_nbytes < 4096 ? "memory" : "no memory");
    return 0;
}
