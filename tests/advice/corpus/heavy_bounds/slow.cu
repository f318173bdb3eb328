// Each warp follows a chain of table entries, then each thread mixes 28 values that it derives from the last one.
//
// LAUNCH: hop<<<160, 1024>>>(table: u32[65536]=random, out: u32[163840], 16)

constexpr int VALUES = 28;

__device__ unsigned mixed(unsigned x)
{
    unsigned v[VALUES], sum = 0;
    for (int k = 0; k < VALUES; k++)
        v[k] = x = (x ^ x >> 7) * 9u + k;
    for (int k = 0; k < VALUES; k++)
        sum = (sum ^ v[VALUES - 1 - k]) * 5u;
    return sum;
}

__global__ void hop(const unsigned *table, unsigned *out, int hops)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned place = i / 32 * 32 % 65536;
    for (int hop = 0; hop < hops; hop++)
        place = (table[place] * 8224 + place) % 65536;
    out[i] = mixed(place + threadIdx.x % 32);
}
