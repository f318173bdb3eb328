// Items of two kinds that alternate in memory; each kind has a rule of its own.
//
// LAUNCH: advance<<<320, 256>>>(state: u32[81920]=random, 120)

__device__ unsigned grow(unsigned x, int rounds)
{
    for (int k = 0; k < rounds; k++)
        x = (x << 3 ^ x) + (x >> 5);
    return x;
}

__device__ unsigned decay(unsigned x, int rounds)
{
    for (int k = 0; k < rounds; k++)
        x = (x >> 1) ^ (x & 1 ? 0xedb88320u : 0u);
    return x;
}

__device__ int item_of(int thread)
{
    return thread;
}

__global__ void advance(unsigned *state, int rounds)
{
    int i = item_of(blockIdx.x * blockDim.x + threadIdx.x);
    if (i % 2 == 0)
        state[i] = grow(state[i], rounds);
    else
        state[i] = decay(state[i], rounds);
}
