// Clusters of blocks (sm_90): a sum in the first block's shared memory, a rotation between neighbours, a tile loaded for all.
#include <cooperative_groups.h>
#include <cuda.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) sums(const int *in, int *out)
{
    __shared__ int total;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        total = 0;
    cluster.sync();
    int *first = cluster.map_shared_rank(&total, 0);
    atomicAdd(first, in[blockIdx.x * blockDim.x + threadIdx.x]);
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0)
        out[blockIdx.x / cluster.num_blocks()] = total;
}

// Each block hands its part to the next one of its cluster, whatever the cluster's shape.
__global__ void rotate(const int *in, int *out)
{
    extern __shared__ int part[];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned int block = blockIdx.y * gridDim.x + blockIdx.x;
    unsigned int next = (cluster.block_rank() + 1) % cluster.num_blocks();
    cluster.map_shared_rank(part, next)[threadIdx.x] = in[block * blockDim.x + threadIdx.x];
    auto token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
    out[block * blockDim.x + threadIdx.x] = part[threadIdx.x] + 1000 * cluster.query_shared_rank(&part[0]);
}

__device__ unsigned int shared_address(const void *p) { return (unsigned int)__cvta_generic_to_shared(p); }

// Column sums of the 64 x 32 tile at (x, y): TMA brings it, swizzled by 128 bytes.
__global__ void tile_sums(const __grid_constant__ CUtensorMap map, float *out, int x, int y)
{
    __shared__ __align__(1024) float tile[64 * 32];
    __shared__ __align__(8) unsigned long long bar;
    unsigned int mbar = shared_address(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(mbar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mbar), "r"(64 * 32 * 4) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                         shared_address(tile)),
                     "l"(&map), "r"(x), "r"(y), "r"(mbar)
                     : "memory");
    }
    __syncthreads();
    asm volatile("{\n .reg .pred p;\nwait_%=:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n @!p bra wait_%=;\n}" ::"r"(mbar)
                 : "memory");
    float sum = 0;
    for (int row = 0; row < 64; row++)
        sum += tile[row * 32 + (threadIdx.x ^ (row % 8) * 4)];
    out[threadIdx.x] = sum;
}
