// The occupancy calculator: blocks that it proposes run, and its numbers hang together.
#include "check.h"
__global__ void fill(int *p, int n)
{
    if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)
        p[i] = i ^ 5;
}
int main()
{
    const int n = 5000;
    int grid = 0, block = 0, blocks_per_sm = 0, sms = 0, most = 0, *device;
    static int got[n];
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, fill, block, 0));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    bool is_right = block > 0 && block % 32 == 0 && grid == blocks_per_sm * sms && blocks_per_sm * block <= most;
    CHECK(cudaMalloc(&device, sizeof got));
    fill<<<(n + block - 1) / block, block>>>(device, n);
    CHECK(cudaMemcpy(got, device, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        is_right &= got[i] == (i ^ 5);
    return verdict(is_right);
}
