#include <cuda/barrier>
#include <cuda/ptx>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;
extern "C" __global__ void add1(int *data, int n)
{
    __shared__ alignas(16) int smem[1024];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    if (threadIdx.x == 0) { init(&bar, blockDim.x); cuda::device::experimental::fence_proxy_async_shared_cta(); }
    __syncthreads();
    if (threadIdx.x == 0) cuda::memcpy_async(smem, data + blockIdx.x * 1024, cuda::aligned_size_t<16>(sizeof(smem)), bar);
    barrier::arrival_token token = bar.arrive();
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) smem[i] += 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, data + blockIdx.x * 1024, smem, sizeof(smem));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
extern "C" __global__ void __cluster_dims__(2,1,1) histo(int *bins, const int *in, int n)
{
    __shared__ int smem[64];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 64; i += blockDim.x) smem[i] = 0;
    cluster.sync();
    int tid = cg::this_grid().thread_rank();
    for (int i = tid; i < n; i += blockDim.x * gridDim.x) {
        int b = in[i];
        int *dst = cluster.map_shared_rank(smem, b / 64);
        atomicAdd(dst + b % 64, 1);
    }
    cluster.sync();
    int *l = bins + cluster.block_rank() * 64;
    for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(&l[i], smem[i]);
}
extern "C" __global__ void tile(const __grid_constant__ CUtensorMap map, int x, int y, int *out)
{
    __shared__ alignas(128) int smem[8][32];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    if (threadIdx.x == 0) { init(&bar, blockDim.x); cuda::device::experimental::fence_proxy_async_shared_cta(); }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_tensor_2d_global_to_shared(&smem, &map, x, y, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(smem));
    } else token = bar.arrive();
    bar.wait(std::move(token));
    smem[threadIdx.x / 32][threadIdx.x % 32] *= 2;
    cuda::device::experimental::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_tensor_2d_shared_to_global(&map, x, y, &smem);
        cuda::device::experimental::cp_async_bulk_commit_group();
        cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
    }
    if (threadIdx.x == 0) (&bar)->~barrier();
    out[0] = 1;
}
