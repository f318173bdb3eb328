// An exclusive scan of bytes as CUB's DeviceScan takes it: a block a tile, in one pass. Its first warp looks back at the
// tiles before it, 32 at a time, down to the nearest one that knows all before itself.
#include "device_wide.h"

// A tile's word: what it knows, and its sum or that of all up to it. 32 words of no tile stand in front.
constexpr unsigned NO_TILE = 0, NOTHING = 99, OWN = 100, ALL_UP_TO_IT = 101;
constexpr int IN_FRONT = 32;

__global__ void begin(uint2 *tiles, int n)
{
    int tile = blockIdx.x * blockDim.x + threadIdx.x;
    if (tile < n)
        tiles[IN_FRONT + tile] = make_uint2(NOTHING, 0);
    if (blockIdx.x == 0 && threadIdx.x < IN_FRONT)
        tiles[threadIdx.x] = make_uint2(NO_TILE, 0);
}

__device__ uint2 seen(const uint2 *tiles, int tile)
{
    uint2 word;
    asm volatile("ld.relaxed.gpu.v2.u32 {%0, %1}, [%2];" : "=r"(word.x), "=r"(word.y) : "l"(tiles + IN_FRONT + tile) : "memory");
    return word;
}

__device__ void tell(uint2 *tiles, int tile, unsigned known, int sum)
{
    asm volatile("st.relaxed.gpu.v2.u32 [%0], {%1, %2};" ::"l"(tiles + IN_FRONT + tile), "r"(known), "r"(sum) : "memory");
}

// A wait that does not become shorter is for many tiles only.
template <bool HALVING>
__device__ void wait(unsigned ns)
{
    if (HALVING || gridDim.x >= 500)
        __nanosleep(ns);
    else
        __threadfence_block();
}

// Lane 0 has the sum of the lanes up to the first one that knows all up to it.
__device__ int of_window(uint2 word)
{
    int sum = word.y, lane = threadIdx.x % 32;
    unsigned from_here;
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(from_here));
    int last = __ffs((__ballot_sync(ALL, word.x == ALL_UP_TO_IT) & from_here) | 0x80000000u) - 1;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_down_sync(ALL, sum, step);
        sum += lane + step <= last ? other : 0;
    }
    return sum;
}

// Lane 0 of the first warp has the sum of all tiles before; `own` is this tile's.
template <int FIRST_NS, int AGAIN_NS, bool HALVING>
__device__ int of_tiles_before(uint2 *tiles, int tile, int own)
{
    wait<HALVING>(FIRST_NS);
    int at = tile - 1 - (int)threadIdx.x, sum = 0;
    unsigned longest = AGAIN_NS;
    uint2 word;
    do {
        if (HALVING)
            longest /= 2;
        unsigned ns = longest;
        for (word = seen(tiles, at); __any_sync(ALL, word.x == NOTHING); word = seen(tiles, at)) {
            wait<HALVING>(ns);
            if (HALVING)
                ns /= 2;
        }
        sum += of_window(word);
        at -= 32;
    } while (__all_sync(ALL, word.x != ALL_UP_TO_IT));
    if (threadIdx.x == 0)
        tell(tiles, tile, ALL_UP_TO_IT, sum + own);
    return sum;
}

// Elements of a warp lie one after another in memory, and a thread's in its registers.
template <int EACH, bool LAST>
__device__ void load(const signed char *tile, int left, int *exchange, int (&item)[EACH])
{
    int lane = threadIdx.x % 32, first = threadIdx.x / 32 * 32 * EACH;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        item[i] = !LAST || first + lane + 32 * i < left ? tile[first + lane + 32 * i] : 0;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        exchange[first + lane + 32 * i] = item[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < EACH; i++)
        item[i] = exchange[first + lane * EACH + i];
}

template <int EACH, bool LAST>
__device__ void store(signed char *tile, int left, int *exchange, const int (&item)[EACH])
{
    int lane = threadIdx.x % 32, first = threadIdx.x / 32 * 32 * EACH;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        exchange[first + lane * EACH + i] = item[i];
    __syncwarp();
    int out[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++)
        out[i] = exchange[first + lane + 32 * i];
#pragma unroll
    for (int i = 0; i < EACH; i++)
        if (!LAST || first + lane + 32 * i < left)
            tile[first + lane + 32 * i] = out[i];
}

__device__ int scan_of_warp(int value)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(ALL, value, step);
        if (lane >= step)
            value += other;
    }
    return value;
}

template <int THREADS, int EACH, int FIRST_NS, int AGAIN_NS, bool HALVING>
__global__ void __launch_bounds__(THREADS) scan(const signed char *from, signed char *to, uint2 *tiles, unsigned n)
{
    constexpr int TILE = THREADS * EACH, WARPS = THREADS / 32;
    __shared__ __align__(16) int exchange[TILE];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tile = blockIdx.x, left = n - tile * TILE;
    int item[EACH];
    if (left > TILE)
        load<EACH, false>(from + tile * TILE, left, exchange, item);
    else
        load<EACH, true>(from + tile * TILE, left, exchange, item);
    __syncthreads();

    int own = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        own += item[i];
    int with_own = scan_of_warp(own), sum = with_own - own, before_warp = 0;
    if (lane == 31)
        exchange[warp] = with_own;
    __syncthreads();
    int total = exchange[0];
#pragma unroll
    for (int other = 1; other < WARPS; other++) {
        if (warp == other)
            before_warp = total;
        total += exchange[other];
    }
    sum += before_warp;
    if (threadIdx.x == 0)
        tell(tiles, tile, tile > 0 ? OWN : ALL_UP_TO_IT, total);
    if (tile > 0) {
        if (warp == 0) {
            int before = of_tiles_before<FIRST_NS, AGAIN_NS, HALVING>(tiles, tile, total);
            if (lane == 0)
                exchange[WARPS] = before;
        }
        __syncthreads();
        sum += exchange[WARPS];
    }

#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int next = sum + item[i];
        item[i] = sum;
        sum = next;
    }
    __syncthreads();
    if (left > TILE)
        store<EACH, false>(to + tile * TILE, left, exchange, item);
    else
        store<EACH, true>(to + tile * TILE, left, exchange, item);
}
