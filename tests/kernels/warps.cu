// What the lanes of a warp do together: shuffles, votes, matches, reductions, cooperative groups.
#include <cooperative_groups.h>

// LAUNCH: shuffles<<<1, 64>>>(shuffles: i32[1024])
// LAUNCH: wide_shuffles<<<1, 64>>>(wide_shuffles: f64[256])
// LAUNCH: votes<<<1, 64>>>(votes: u32[512])
// LAUNCH: divergent<<<1, 64>>>(divergent: u32[256])
// LAUNCH: two_sides<<<2, 64>>>(two_sides: i32[384])
// LAUNCH: matches<<<1, 64>>>(matches: u32[256])
// LAUNCH: blocks<<<1, 96>>>(blocks: i32[288])
// LAUNCH: tiles<<<1, 64>>>(tiles: i32[640])
// LAUNCH: coalesced<<<1, 64>>>(coalesced: i32[192])
// LAUNCH: warp_sum<<<1, 96>>>(sums: i32[3])
// LAUNCH: lanes<<<2, 96>>>(lanes: u32[1152])

extern "C" __global__ void shuffles(int *out)
{
    int t = threadIdx.x, v = t * t, *o = out + 16 * t;
    unsigned all = 0xffffffff;
    o[0] = __shfl_sync(all, v, 5);
    o[1] = __shfl_sync(all, v, t * 3);
    o[2] = __shfl_sync(all, v, t + 1, 8);
    o[3] = __shfl_up_sync(all, v, 3);
    o[4] = __shfl_up_sync(all, v, 1, 4);
    o[5] = __shfl_down_sync(all, v, 7);
    o[6] = __shfl_down_sync(all, v, 2, 16);
    o[7] = __shfl_xor_sync(all, v, 9);
    o[8] = __shfl_xor_sync(all, v, 1, 2);
    o[9] = (int)__shfl_sync(all, (unsigned)v, 31 - (t & 31));
    o[10] = (int)__shfl_xor_sync(all, (float)v, 16);
    if (t & 1)
        o[11] = __shfl_sync(0xaaaaaaaa, v, (t & 31) | 1);
    else
        o[11] = __shfl_down_sync(0x55555555, v, 2);
    o[12] = __shfl_sync(all, v, 33);
    o[13] = __shfl_up_sync(all, v, 0);
    o[14] = __shfl_down_sync(all, v, 31);
    o[15] = __shfl_xor_sync(all, v, 31);
}

extern "C" __global__ void wide_shuffles(double *out)
{
    int t = threadIdx.x;
    double d = 1.0 / (t + 1);
    long long l = (long long)t << 40 | t;
    out[4 * t] = __shfl_sync(0xffffffff, d, 3);
    out[4 * t + 1] = __shfl_down_sync(0xffffffff, d, 1, 16);
    out[4 * t + 2] = (double)__shfl_xor_sync(0xffffffff, l, 5);
    out[4 * t + 3] = (double)__shfl_up_sync(0xffffffff, (unsigned long long)l, 2);
}

extern "C" __global__ void votes(unsigned *out)
{
    int t = threadIdx.x;
    unsigned all = 0xffffffff, *o = out + 8 * t;
    o[0] = __ballot_sync(all, t % 3 == 0);
    o[1] = __any_sync(all, t == 40) + 2 * __all_sync(all, t < 32);
    o[2] = t % 3 ? __ballot_sync(t % 32 < 16 ? 0xffff : 0xffff0000, t & 1) * 0 + 7
                 : (__ballot_sync(t % 32 < 16 ? 0xffff : 0xffff0000, t & 1), 7);
    if (t % 32 < 20) {
        o[3] = __ballot_sync(0xfffff, t & 1);
        o[4] = __any_sync(0xfffff, t % 32 > 18) + 2 * __all_sync(0xfffff, t % 32 < 19);
    }
    __syncwarp();
    o[5] = __popc(__ballot_sync(all, t * 7 % 11 < 5));
    o[6] = __syncthreads_count(t % 5 == 0);
    o[7] = (__syncthreads_and(t < 100) != 0) + 2 * (__syncthreads_or(t == 63) != 0) + 4 * (__syncthreads_or(t > 99) != 0);
}

extern "C" __global__ void divergent(unsigned *out)
{
    int t = threadIdx.x;
    unsigned *o = out + 4 * t;
    if (t & 4) {
        __syncwarp(0xf0f0f0f0);
        o[0] = __shfl_xor_sync(0xf0f0f0f0, t, 1);
    } else {
        o[0] = __shfl_xor_sync(0x0f0f0f0f, t * 100, 2);
    }
    for (int i = 0; i < t % 4; i++)
        o[1] += __popc(__ballot_sync(__activemask(), 1)) > 0;
    o[2] = __popc(__activemask()) > 0;
    __syncwarp();
    o[3] = __ballot_sync(0xffffffff, o[0] & 1);
}

// Lanes that meet at different shuffles: valid since there are independent threads (compute capability 7.0).
extern "C" __global__ void two_sides(int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, v = t * 3 + 1, s, *o = out + 3 * t;
    if (t % 32 < 16) {
        s = __shfl_xor_sync(0xffffffff, v, 16);
    } else {
        s = __shfl_xor_sync(0xffffffff, v, 16);
    }
    o[0] = s;
    for (int i = 16; i > 0; i /= 2) {
        if (t % 5 == 0)
            v += __shfl_xor_sync(0xffffffff, v, i);
        else
            v = 1 - __shfl_xor_sync(0xffffffff, v * 3, i);
    }
    o[1] = v;
    if (t & 2) {
        o[2] = __popc(__ballot_sync(0xffffffff, t % 3 == 0));
    } else {
        o[2] = -__popc(__ballot_sync(0xffffffff, t % 3 == 0));
    }
}

extern "C" __global__ void matches(unsigned *out)
{
    int t = threadIdx.x, pred;
    out[4 * t] = __match_any_sync(0xffffffff, t % 5);
    out[4 * t + 1] = __match_any_sync(0xffffffff, (long long)(t / 8) << 33);
    out[4 * t + 2] = __match_all_sync(0xffffffff, t / 32, &pred) + pred;
    out[4 * t + 3] = __match_all_sync(0xffffffff, (double)t, &pred) + 2 * pred;
}

namespace cg = cooperative_groups;

extern "C" __global__ void blocks(int *out)
{
    __shared__ int values[96];
    cg::thread_block block = cg::this_thread_block();
    int t = block.thread_rank();
    values[t] = t * 5;
    block.sync();
    out[3 * t] = values[95 - t];
    out[3 * t + 1] = block.size() + block.group_index().x + block.thread_index().x;
    auto tile = cg::tiled_partition<32>(block);
    out[3 * t + 2] = tile.meta_group_rank() * 100 + tile.thread_rank();
}

template <typename Tile> __device__ int tile_sum(Tile tile, int v)
{
    for (int i = tile.size() / 2; i > 0; i /= 2)
        v += tile.shfl_down(v, i);
    return tile.shfl(v, 0);
}

extern "C" __global__ void tiles(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    int t = threadIdx.x, *o = out + 10 * t;
    o[0] = tile_sum(cg::tiled_partition<32>(block), t);
    o[1] = tile_sum(cg::tiled_partition<16>(block), t);
    o[2] = tile_sum(cg::tiled_partition<8>(block), t);
    o[3] = tile_sum(cg::tiled_partition<4>(block), t);
    o[4] = tile_sum(cg::tiled_partition<2>(block), t);
    auto tile = cg::tiled_partition<8>(block);
    o[5] = tile.ballot(t & 1);
    o[6] = tile.any(t == 3) + 2 * tile.all(t < 16);
    o[7] = tile.shfl_up(t, 1) + tile.shfl_xor(t, 3);
    o[8] = tile.match_any(t / 3);
    tile.sync();
    o[9] = tile.meta_group_size() * 1000 + tile.meta_group_rank();
}

extern "C" __global__ void coalesced(int *out)
{
    int t = threadIdx.x;
    if (t % 3 == 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        out[3 * t] = active.size();
        out[3 * t + 1] = active.thread_rank();
        out[3 * t + 2] = active.shfl(t, 0);
    }
}

extern "C" __global__ void warp_sum(int *out)
{
    int v = threadIdx.x;
    for (int offset = 16; offset > 0; offset >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, offset);
    if (threadIdx.x % 32 == 0)
        out[threadIdx.x / 32] = v;
}

extern "C" __global__ void lanes(unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, *o = out + 6 * i, value;
    asm("mov.u32 %0, %%laneid;" : "=r"(value));
    o[0] = value;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(value));
    o[1] = value;
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(value));
    o[2] = value;
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(value));
    o[3] = value;
    o[4] = gridDim.x * 1000 + blockDim.x * 10 + warpSize;
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(value));
    o[5] = value >= 3;
}
