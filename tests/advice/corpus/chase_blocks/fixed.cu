// Each warp follows six links of a table, and each thread notes where that ends.
//
// LAUNCH: follow<<<1536, 256>>>(link: u32[32768]=random, out: u32[393216], 6)

__device__ unsigned next(const unsigned *link, unsigned place)
{
    return (link[place] * 127 + place / 32) % 1024 * 32;
}

__global__ void follow(const unsigned *link, unsigned *out, int steps)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned place = i / 32 % 1024 * 32;
    for (int step = 0; step < steps; step++)
        place = next(link, place);
    out[i] = place + threadIdx.x % 32;
}
