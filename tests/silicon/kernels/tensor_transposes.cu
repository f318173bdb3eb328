// Transposes of a matrix of floats by tensor maps: a block copies a tile into shared memory, its threads exchange rows and
// columns there, and a copy takes the second tile away.

#include <cuda.h>

constexpr int TILE = 32;

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// Where the copy of a map with swizzle 128 puts an element: 16 bytes change places within 128, by the row.
template <bool SWIZZLED> __device__ int place(int row, int column)
{
    return row * TILE + (SWIZZLED ? ((column / 4) ^ (row % 8)) * 4 + column % 4 : column);
}

// All threads arrive at the tile's barrier, the first one with the copy's bytes, and wait for it.
__device__ void copy_in(float *tile, const CUtensorMap &map, unsigned barrier, int x, int y)
{
    unsigned long long state;
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
                     "l"(&map), "r"(x), "r"(y), "r"(barrier)
                     : "memory");
        asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %0, [%1], %2;"
                     : "=l"(state)
                     : "r"(barrier), "r"(TILE * TILE * 4)
                     : "memory");
    } else {
        asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(barrier) : "memory");
    }
    int complete;
    do {
        asm volatile("{\n"
                     " .reg .pred done;\n"
                     " mbarrier.try_wait.acquire.cta.shared::cta.b64 done, [%1], %2;\n"
                     " selp.b32 %0, 1, 0, done;\n"
                     "}"
                     : "=r"(complete)
                     : "r"(barrier), "l"(state)
                     : "memory");
    } while (!complete);
}

__device__ void copy_out(const CUtensorMap &map, const float *tile, int x, int y)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
                     "r"(y), "r"(x), "r"(shared_address(tile))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}

// EACH elements of a row a thread.
template <bool SWIZZLED, int EACH>
__global__ void by_maps(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to)
{
    __shared__ alignas(1024) float tile[TILE * TILE];
    __shared__ alignas(1024) float transposed[TILE * TILE];
    __shared__ alignas(8) unsigned long long barrier;
    const int x = blockIdx.x * TILE, y = blockIdx.y * TILE;
    const int column = threadIdx.x % (TILE / EACH) * EACH, row = threadIdx.x / (TILE / EACH);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(blockDim.x)
                     : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    copy_in(tile, from, shared_address(&barrier), x, y);
#pragma unroll
    for (int i = 0; i < EACH; ++i)
        transposed[place<SWIZZLED>(column + i, row)] = tile[place<SWIZZLED>(row, column + i)];
    copy_out(to, transposed, x, y);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(&barrier)) : "memory");
}
