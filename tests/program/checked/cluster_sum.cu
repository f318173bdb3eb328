// run: --chip h100
// Blocks of a cluster read each other's shared memory.
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) sum(const int *in, int *out)
{
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        mine = 0;
    __syncthreads();
    atomicAdd(&mine, in[blockIdx.x * blockDim.x + threadIdx.x]);
    cluster.sync();
    if (threadIdx.x == 0) {
        int total = 0;
        for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank)
            total += *cluster.map_shared_rank(&mine, rank);
        out[blockIdx.x] = total;
    }
    cluster.sync();
}
int main()
{
    const int n_blocks = 8, n_threads = 64, n = n_blocks * n_threads;
    int host[n], got[n_blocks], *in, *out;
    for (int i = 0; i < n; ++i)
        host[i] = i * i % 101;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof got));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    sum<<<n_blocks, n_threads>>>(in, out);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int block = 0; block < n_blocks; ++block) {
        int expected = 0;
        for (int i = 0; i < 4 * n_threads; ++i)
            expected += host[block / 4 * 4 * n_threads + i];
        is_right &= got[block] == expected;
    }
    return verdict(is_right);
}
