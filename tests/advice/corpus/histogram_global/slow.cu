// How often each of 64 grey levels occurs.
//
// LAUNCH: histogram<<<160, 256>>>(pixels: u32[262144]=random, 262144, bins: u32[64])

constexpr int LEVELS = 64;

__global__ void histogram(const unsigned *pixels, int n, unsigned *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[pixels[i] % LEVELS], 1u);
}
