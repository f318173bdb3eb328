// Counting bytes into 64 bins with atomics.
//
// global_atomics: every thread of the grid adds into the same 64 words at L2.
// shared_atomics: each block counts in its own shared memory and adds its 64 counts at the end.
//
// LAUNCH: global_atomics<<<64, 256>>>(data: u32[65536]=random, 65536, global_bins: u32[64])
// LAUNCH: shared_atomics<<<64, 256>>>(data, 65536, shared_bins: u32[64])

constexpr int BINS = 64;

__global__ void global_atomics(const unsigned *data, int n, unsigned *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[data[i] % BINS], 1u);
}

__global__ void shared_atomics(const unsigned *data, int n, unsigned *bins)
{
    __shared__ unsigned mine[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[data[i] % BINS], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        atomicAdd(&bins[b], mine[b]);
}
