// Atomics of many threads: to one address, and histograms.

// All threads to one float.
__global__ void add_to_one(const float *in, float *sum, size_t n)
{
    size_t i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n)
        atomicAdd(sum, in[i]);
}

__global__ void add_to_one_early(float *in, float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(sum, in[i]);
}

// Bins in global memory, cleared by the first threads.
__global__ void histogram(unsigned *in, unsigned *bins, unsigned n, unsigned count)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned bin = thread; bin < count; bin += blockDim.x * gridDim.x)
        bins[bin] = 0;
    __syncthreads();
    for (unsigned i = thread; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&bins[in[i]], 1);
}

// Bins of each block in shared memory, added to those in global memory in the end.
__global__ void histogram_by_blocks(unsigned *in, unsigned *bins, unsigned n, unsigned count)
{
    extern __shared__ unsigned own[];
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned bin = threadIdx.x; bin < count; bin += blockDim.x)
        own[bin] = 0;
    __syncthreads();
    for (unsigned i = thread; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&own[in[i]], 1);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < count; bin += blockDim.x)
        atomicAdd(&bins[bin], own[bin]);
}

// 256 bins of bytes.
__global__ void bytes_in_global(const unsigned char *in, unsigned *bins, unsigned n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
}

__global__ void bytes_in_shared(const unsigned char *in, unsigned *bins, unsigned n)
{
    __shared__ unsigned own[256];
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x)
        own[bin] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i]], 1u);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x)
        atomicAdd(&bins[bin], own[bin]);
}

__device__ unsigned long long mixed(unsigned long long x)
{
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ULL;
    return x ^ x >> 33;
}

// Two bits a key, in 64-bit words anywhere in the filter.
__global__ void insert_keys(unsigned long long *filter, const unsigned *keys, unsigned words, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned long long first = mixed(keys[i]), second = mixed(first);
        atomicOr(&filter[(first >> 32) * words >> 32], 1ULL << (first & 63));
        atomicOr(&filter[(second >> 32) * words >> 32], 1ULL << (second & 63));
    }
}
