// How many keys of each block have each of four digits, of eight bits each, for a radix sort of keys that are in order
// already.
//
// LAUNCH: count_digits<<<160, 256>>>(keys: u32[327680]=arange, counts: u32[160,4,256], 2048)

constexpr int DIGITS = 256;
constexpr int PASSES = 4;

__device__ void add(unsigned *count, unsigned digit)
{
    unsigned same = __match_any_sync(__activemask(), digit);
    if (threadIdx.x % 32 == __ffs(same) - 1)
        atomicAdd(&count[digit], __popc(same));
}

__global__ void count_digits(const unsigned *keys, unsigned *counts, int keys_per_block)
{
    __shared__ unsigned count[PASSES][DIGITS];
    for (int pass = 0; pass < PASSES; pass++)
        count[pass][threadIdx.x] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < keys_per_block; k += blockDim.x) {
        unsigned key = keys[blockIdx.x * keys_per_block + k] * 64;
        for (int pass = 0; pass < PASSES; pass++)
            add(count[pass], key >> 8 * pass & DIGITS - 1);
    }
    __syncthreads();
    for (int pass = 0; pass < PASSES; pass++)
        counts[(blockIdx.x * PASSES + pass) * DIGITS + threadIdx.x] = count[pass][threadIdx.x];
}
