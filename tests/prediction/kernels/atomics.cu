// Atomics whose addresses are one, some and many.

__global__ void to_some(const unsigned *in, unsigned *bins, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[in[i] % count], 1u);
}

__global__ void to_own(unsigned *bins, int turns)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < turns; k++)
        atomicAdd(&bins[i], k);
}

__global__ void largest(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int most = in[i];
    for (int distance = 16; distance > 0; distance /= 2)
        most = max(most, __shfl_xor_sync(0xffffffffu, most, distance));
    if (threadIdx.x % 32 == 0)
        atomicMax(out, most);
}
