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
