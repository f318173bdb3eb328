// How often each of 64 grey levels occurs.
//
// LAUNCH: histogram<<<160, 256>>>(pixels: u32[262144]=random, 262144, bins: u32[64])

constexpr int LEVELS = 64;

__global__ void histogram(const unsigned *pixels, int n, unsigned *bins)
{
    __shared__ unsigned mine[LEVELS];
    if (threadIdx.x < LEVELS)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[pixels[i] % LEVELS], 1u);
    __syncthreads();
    if (threadIdx.x < LEVELS)
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
