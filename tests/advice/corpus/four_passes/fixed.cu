// Four weighted sums of the same data; a block has a chunk of its own, larger than the L1.
//
// LAUNCH: sums_of<<<80, 256>>>(x: u32[1310720]=random, sums: u32[4,20480], 16384)

constexpr int PASSES = 4;

__device__ unsigned weight(int pass, int i)
{
    return i * (2 * pass + 1) + pass;
}

__global__ void sums_of(const unsigned *x, unsigned *sums, int chunk)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const unsigned *mine = x + blockIdx.x * chunk;
    unsigned sum[PASSES] = {};
    for (int i = threadIdx.x; i < chunk; i += blockDim.x)
        for (int pass = 0; pass < PASSES; pass++)
            sum[pass] += weight(pass, i) * mine[i];
    for (int pass = 0; pass < PASSES; pass++)
        sums[pass * threads + thread] = sum[pass];
}
