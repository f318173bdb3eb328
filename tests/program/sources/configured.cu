// cudaLaunchKernelEx: clusters and cooperative launches; what is not there.
#include <cstdio>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void ranks(unsigned *found, float) { found[blockIdx.x] = cg::this_cluster().block_rank(); }
__global__ void whole(int *sum)
{
    atomicAdd(sum, 1);
    cg::this_grid().sync();
    if (!blockIdx.x && !threadIdx.x)
        sum[1] = sum[0];
}
int main()
{
    unsigned *found, ranked[4];
    int *sum, sums[2];
    cudaMalloc(&found, sizeof ranked);
    cudaMalloc(&sum, sizeof sums);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {2, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = 4, config.blockDim = 32, config.stream = stream, config.attrs = attributes, config.numAttrs = 1;
    printf("%s\n", cudaGetErrorName(cudaLaunchKernelEx(&config, ranks, found, 1))); // an int becomes the float
    attributes[0].id = cudaLaunchAttributeCooperative;
    attributes[0].val.cooperative = 1;
    printf("%s\n", cudaGetErrorName(cudaLaunchKernelEx(&config, whole, sum)));
    attributes[0].id = cudaLaunchAttributeDeviceUpdatableKernelNode;
    printf("%s\n", cudaGetErrorName(cudaLaunchKernelEx(&config, ranks, found, 1.0f)));
    cudaMemcpy(ranked, found, sizeof ranked, cudaMemcpyDeviceToHost);
    cudaMemcpy(sums, sum, sizeof sums, cudaMemcpyDeviceToHost);
    printf("%u %u %u %u, %d %d\n", ranked[0], ranked[1], ranked[2], ranked[3], sums[0], sums[1]);
}
