// Mixes the bits of each element some rounds.
//
// LAUNCH: mix<<<48, 256>>>(in: u32[98304]=random, out: u32[98304], 98304, 24)

__device__ unsigned mixed(unsigned x)
{
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    return x ^ x << 7;
}

__global__ void mix(const unsigned *in, unsigned *out, int n, int rounds)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned x = in[i] + i;
        for (int round = 0; round < rounds; round++)
            x = mixed(x);
        out[i] = x;
    }
}
