// A whole radix sort in one block: warps count and rank digits with __match_any_sync.
#include <cstdint>

template <int BITS> __global__ void radix_sort(uint32_t *keys, uint32_t *scratch, int n)
{
    constexpr int DIGITS = 1 << BITS, WARPS = 8;
    __shared__ uint32_t count[WARPS][DIGITS];
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    uint32_t lanes_below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes_below));
    const int first = warp * (n / WARPS) + lane, end = (warp + 1) * (n / WARPS);
    uint32_t *from = keys, *to = scratch;
    for (int shift = 0; shift < 32; shift += BITS) {
        for (int i = threadIdx.x; i < WARPS * DIGITS; i += blockDim.x)
            (&count[0][0])[i] = 0;
        __syncthreads();
        for (int i = first; i < end; i += 32) {
            uint32_t digit = from[i] >> shift & (DIGITS - 1), peers = __match_any_sync(~0u, digit);
            if ((peers & lanes_below) == 0)
                count[warp][digit] += __popc(peers);
            __syncwarp();
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            uint32_t sum = 0;
            for (int d = 0; d < DIGITS; ++d)
                for (int w = 0; w < WARPS; ++w) {
                    uint32_t c = count[w][d];
                    count[w][d] = sum;
                    sum += c;
                }
        }
        __syncthreads();
        for (int i = first; i < end; i += 32) {
            uint32_t key = from[i], digit = key >> shift & (DIGITS - 1), peers = __match_any_sync(~0u, digit);
            uint32_t rank = __popc(peers & lanes_below), base = count[warp][digit];
            __syncwarp();
            if (rank == 0)
                count[warp][digit] = base + __popc(peers);
            __syncwarp();
            to[base + rank] = key;
        }
        __syncthreads();
        uint32_t *t = from;
        from = to;
        to = t;
    }
}
