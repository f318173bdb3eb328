// Bytes sorted as CUB's DeviceRadixSort sorts them: a histogram of all keys, its exclusive sums, and one pass in which
// each tile looks back, bin by bin, for the keys before its own.
#include "device_wide.h"

constexpr int BINS = 256;
constexpr unsigned SIGN = 0x80;  // the digit of a key is its byte with the sign turned

// A scan of a block's numbers by its first warp, which adds up segments. Segments of 8 and more are one word apart.
template <int THREADS>
struct Rake {
    static constexpr int SEGMENT = THREADS / 32;
    int numbers[32 * (SEGMENT + 1)];

    __device__ int exclusive_sum(int value)
    {
        int *own = numbers + threadIdx.x + threadIdx.x / SEGMENT;
        *own = value;
        __syncthreads();
        if (threadIdx.x < 32)
            of_first_warp(numbers + threadIdx.x * (SEGMENT + 1));
        __syncthreads();
        return *own;
    }

    __device__ void of_first_warp(int *segment)
    {
        int kept[SEGMENT], sum = 0, lane = threadIdx.x;
#pragma unroll
        for (int i = 0; i < SEGMENT; i++)
            sum += kept[i] = segment[i];
        int with_own = sum;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            int other = __shfl_up_sync(ALL, with_own, step);
            if (lane >= step)
                with_own += other;
        }
        int before = with_own - sum;
#pragma unroll
        for (int i = 0; i < SEGMENT; i++) {
            segment[i] = before;
            before += kept[i];
        }
    }
};

constexpr int COUNT_THREADS = 128, COUNT_EACH = 16, COUNT_TILE = COUNT_THREADS * COUNT_EACH;

// `bins` are 0 before. What lacks in the last tile counts as the last digit, which no begin depends on.
__global__ void __launch_bounds__(COUNT_THREADS) count(unsigned *bins, const unsigned char *keys, unsigned n)
{
    __shared__ unsigned own[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += COUNT_THREADS)
        own[bin] = 0;
    __syncthreads();
    for (unsigned begin = blockIdx.x * COUNT_TILE; begin < n; begin += gridDim.x * COUNT_TILE) {
        unsigned digit[COUNT_EACH];
        if (n - begin >= COUNT_TILE)
#pragma unroll
            for (int i = 0; i < COUNT_EACH; i++)
                digit[i] = keys[begin + threadIdx.x + i * COUNT_THREADS] ^ SIGN;
        else
#pragma unroll
            for (int i = 0; i < COUNT_EACH; i++) {
                unsigned at = begin + threadIdx.x + i * COUNT_THREADS;
                digit[i] = at < n ? keys[at] ^ SIGN : BINS - 1;
            }
#pragma unroll
        for (int i = 0; i < COUNT_EACH; i++)
            atomicAdd(&own[digit[i]], 1);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += COUNT_THREADS)
        if (own[bin] > 0)
            atomicAdd(&bins[bin], own[bin]);
}

// The places where the digits begin.
__global__ void __launch_bounds__(BINS) begins(unsigned *bins)
{
    __shared__ Rake<BINS> rake;
    bins[threadIdx.x] = rake.exclusive_sum(bins[threadIdx.x]);
}

constexpr int THREADS = 512, WARPS = THREADS / 32, EACH = 19, TILE = THREADS * EACH;
constexpr unsigned OWN = 1u << 30, ALL_UP_TO_IT = 1u << 31, SUM = OWN - 1;  // what a tile's word of a bin says

struct Ranking {
    int of_warp[WARPS][BINS];
    Rake<THREADS> rake;
};

struct Shared {
    union {
        unsigned char keys[TILE];
        Ranking ranking;
    };
    union {
        unsigned places[BINS];
        int tile;
    };
};

// The lanes that have this lane's digit.
__device__ unsigned lanes_alike(unsigned digit)
{
    unsigned alike = ALL;
#pragma unroll
    for (int bit = 0; bit < 8; bit++) {
        bool is_set = digit >> bit & 1;
        unsigned set = __ballot_sync(ALL, is_set);
        alike &= is_set ? set : ~set;
    }
    return alike;
}

// Counts by warp and digit become the numbers of such keys in the warps before; gives the tile's number.
__device__ int sum_over_warps(Ranking &ranking, int bin)
{
    int sum = 0;
#pragma unroll
    for (int warp = 0; warp < WARPS; warp++) {
        int counted = ranking.of_warp[warp][bin];
        ranking.of_warp[warp][bin] = sum;
        sum += counted;
    }
    return sum;
}

// The place of the first key of a bin, less its place within the tile.
__device__ void look_back(volatile unsigned *words, Shared &shared, int tile, int bin, int own)
{
    unsigned sum = own, lanes = ALL;
    for (int before = tile - 1; before >= 0; before--) {
        unsigned word;
        do {
            __threadfence_block();
            word = words[before * BINS + bin];
        } while (word == 0);
        sum += word & SUM;
        lanes = __ballot_sync(lanes, (word & ALL_UP_TO_IT) == 0);
        if (word & ALL_UP_TO_IT)
            break;
    }
    words[tile * BINS + bin] = sum | ALL_UP_TO_IT;
    shared.places[bin] += sum - own;
}

// All keys of the tile are alike: they stay in order.
__device__ void copy(volatile unsigned *words, const unsigned *first, unsigned char *to, Shared &shared, int tile,
                     int own, const unsigned (&digit)[EACH])
{
    int bin = threadIdx.x, at = threadIdx.x / 32 * 32 * EACH + threadIdx.x % 32;
    if (bin < BINS) {
        shared.places[bin] = first[bin] - (bin > digit[0] ? TILE : 0);
        look_back(words, shared, tile, bin, own);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < EACH; i++)
        to[shared.places[digit[0]] + at + 32 * i] = digit[i] ^ SIGN;
}

// The place of each key within its tile. `before` is that of the thread's bin.
__device__ void rank(Ranking &ranking, const unsigned (&digit)[EACH], int before, int (&place)[EACH])
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, bin = threadIdx.x;
    if (bin < BINS)
#pragma unroll
        for (int other = 0; other < WARPS; other++)
            ranking.of_warp[other][bin] += before;
    __syncthreads();
    unsigned up_to_here;
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(up_to_here));
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        unsigned alike = lanes_alike(digit[i]);
        int leader = 31 - __clz(alike), number = __popc(alike & up_to_here), first = 0;
        if (lane == leader)
            first = atomicAdd(&ranking.of_warp[warp][digit[i]], number);
        place[i] = __shfl_sync(ALL, first, leader) + number - 1;
    }
}

// `words`, one for each tile and bin, and `counter` are 0 before; `first` are the begins of the digits.
__global__ void __launch_bounds__(THREADS)
    pass(unsigned *words, unsigned *counter, const unsigned *first, unsigned char *to, const unsigned char *keys, int n)
{
    __shared__ Shared shared;
    Ranking &ranking = shared.ranking;
    if (threadIdx.x == 0)
        shared.tile = atomicAdd(counter, 1);
    __syncthreads();
    int tile = shared.tile, bin = threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int begin = tile * TILE, left = min(n - begin, TILE);
    unsigned digit[EACH];
    int at = warp * 32 * EACH + lane;
    if (left == TILE)
#pragma unroll
        for (int i = 0; i < EACH; i++)
            digit[i] = keys[begin + at + 32 * i] ^ SIGN;
    else
#pragma unroll
        for (int i = 0; i < EACH; i++)
            digit[i] = at + 32 * i < left ? keys[begin + at + 32 * i] ^ SIGN : BINS - 1;

#pragma unroll
    for (int own = lane; own < BINS; own += 32)
        ranking.of_warp[warp][own] = 0;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < EACH; i++)
        atomicAdd(&ranking.of_warp[warp][digit[i]], 1);
    __syncthreads();
    int own = 0;
    if (bin < BINS) {
        own = sum_over_warps(ranking, bin);
        reinterpret_cast<volatile unsigned *>(words)[tile * BINS + bin] = own | OWN;
    }
    if (__syncthreads_or(own == TILE && left == TILE))
        return copy(words, first, to, shared, tile, own, digit);

    int before = ranking.rake.exclusive_sum(own);
    int place[EACH];
    rank(ranking, digit, before, place);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < EACH; i++)
        shared.keys[place[i]] = digit[i];
    if (bin < BINS) {
        shared.places[bin] = first[bin] - before;
        look_back(words, shared, tile, bin, own);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int from = threadIdx.x + i * THREADS;
        if (from < left) {
            unsigned key = shared.keys[from];
            to[from + shared.places[key]] = key ^ SIGN;
        }
    }
}
