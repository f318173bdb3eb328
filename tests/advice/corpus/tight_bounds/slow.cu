// Each thread keeps 40 running values and mixes them over some rounds.
//
// LAUNCH: mix<<<80, 256>>>(seed: u32[20480]=random, out: u32[20480], 3)

constexpr int VALUES = 40;

__global__ void __launch_bounds__(256, 8) mix(const unsigned *seed, unsigned *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v[VALUES];
    for (int k = 0; k < VALUES; k++)
        v[k] = seed[(i + 97 * k) % 20480];
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < VALUES; k++)
            v[k] = v[k] * 5 + v[(k + 7) % VALUES];
    unsigned sum = 0;
    for (int k = 0; k < VALUES; k++)
        sum = sum * 31 + v[k];
    out[i] = sum;
}
