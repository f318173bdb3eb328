// Each item is worked on for 4 to 256 rounds, which its number says.
//
// LAUNCH: work<<<320, 128>>>(seed: u32[40960]=random, out: u32[40960])

constexpr int KINDS = 64;

__device__ int item_of(int thread)
{
    return thread / (32 * KINDS) * (32 * KINDS) + thread % 32 * KINDS + thread / 32 % KINDS;
}

__device__ int trips_of(int item)
{
    return 4 * (1 + item * 37 % KINDS);
}

__global__ void work(const unsigned *seed, unsigned *out)
{
    int item = item_of(blockIdx.x * blockDim.x + threadIdx.x);
    unsigned x = seed[item] + item;
    for (int k = 0, trips = trips_of(item); k < trips; k++)
        x = (x ^ x >> 3) * 9u + k;
    out[item] = x;
}
