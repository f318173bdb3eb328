// Maps each element through a table of 64 entries, some rounds.
//
// LAUNCH: map<<<264, 256>>>(in: u32[67584]=random, out: u32[67584], 32)

#define EIGHT(x) x, x * 3 + 1, x * 5 + 2, x * 7 + 3, x * 11 + 4, x * 13 + 5, x * 17 + 6, x * 19 + 7

__device__ unsigned levels[64] = {EIGHT(1), EIGHT(2), EIGHT(3), EIGHT(4), EIGHT(5), EIGHT(6), EIGHT(7), EIGHT(8)};

__global__ void map(const unsigned *in, unsigned *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int k = 0; k < rounds; k++)
        sum = sum * 3 + levels[(in[i] + k) % 64];
    out[i] = sum;
}
