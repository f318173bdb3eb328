// What the CUDA toolkit's own headers make of the hardware: atomic references, matrix fragments, copies in the background, barriers
// across the grid, textures. nvcc only.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda_pipeline.h>
#include <mma.h>

extern "C" __global__ void atomic_references(int *x)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> a(x[0]);
    a.fetch_add(3);
    a.fetch_max(5, cuda::memory_order_relaxed);
    x[1] = a.load(cuda::memory_order_acquire);
    cuda::atomic_ref<int, cuda::thread_scope_block> b(x[2]);
    int expected = 0;
    b.compare_exchange_strong(expected, 9);
    cuda::atomic_ref<int, cuda::thread_scope_system>(x[3]).fetch_or(1 << threadIdx.x % 30);
}

extern "C" __global__ void fragments(const __half *a, const __half *b, float *c)
{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::mma_sync(sum, left, right, sum);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] *= 2;
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

extern "C" __global__ void background_copies(const float4 *in, float4 *out)
{
    __shared__ float4 tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[63 - t];
}

namespace cg = cooperative_groups;

extern "C" __global__ void grid_barrier(int *x)
{
    cg::grid_group grid = cg::this_grid();
    int sum = 0;
    x[grid.thread_rank()] = 1;
    grid.sync();
    for (int i = 0; i < grid.size(); i++)
        sum += x[i];
    grid.sync();
    x[grid.thread_rank()] = sum;
}

extern "C" __global__ void reductions(int *x)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    x[threadIdx.x] = cg::reduce(warp, (int)threadIdx.x, cg::plus<int>());
    x[threadIdx.x] += cg::coalesced_threads().size();
}

extern "C" __global__ void texture(cudaTextureObject_t picture, float *out) { out[threadIdx.x] = tex2D<float>(picture, threadIdx.x + 0.5f, 0.5f); }

extern "C" __global__ void sized_at_run_time(int n, int *out)
{
    int *words = (int *)alloca(n * sizeof(int)), sum = 0;
    for (int i = 0; i < n; i++)
        words[i] = i * threadIdx.x;
    for (int i = 0; i < n; i++)
        sum += words[i * 7 % n];
    out[threadIdx.x] = sum;
}

// Tiles of several warps: from sm_80 on they synchronise and exchange through shared memory that the system keeps of every block.
template <int size> __device__ void tiles(int *out)
{
#if __CUDA_ARCH__ >= 800
    cg::thread_block block = cg::this_thread_block();
#else
    __shared__ cg::block_tile_memory<1024> memory;
    cg::thread_block block = cg::this_thread_block(memory);
#endif
    auto tile = cg::tiled_partition<size>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i * 7 % 101;
    out[3 * i] = cg::reduce(tile, v, cg::plus<int>());
    tile.sync();
    out[3 * i + 1] = tile.shfl(v, size - 3) + 1000 * tile.meta_group_rank();
    tile.sync();
    int most = cg::reduce(tile, v, cg::greater<int>());
    tile.sync();
    int all = tile.all(v < 100);
    tile.sync();
    out[3 * i + 2] = 4 * most + 2 * all + tile.any(v == 100);
}

extern "C" __global__ void tiles64(int *out)
{
    tiles<64>(out);
}

extern "C" __global__ void tiles128(int *out)
{
    tiles<128>(out);
}

extern "C" __global__ void tiles512(int *out)
{
    tiles<512>(out);
}

// The block's own memory, static and dynamic, is left alone.
extern "C" __global__ void beside_a_tile(int *out)
{
    __shared__ int fixed[128];
    extern __shared__ int given[];
    int t = threadIdx.x;
    fixed[t] = t;
    given[t] = 1000 * t;
#if __CUDA_ARCH__ >= 800
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    int sum = cg::reduce(tile, 1, cg::plus<int>());
#else
    int sum = 64;
#endif
    __syncthreads();
    out[t] = fixed[127 - t] + given[t ^ 1] + sum;
}
