// Sums of 256 numbers a block: neighbours first, halves, and by shuffles.

__global__ void sum_neighbours(float *in, float *out, unsigned n)
{
    __shared__ float part[256];
    unsigned me = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    part[me] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        int place = 2 * step * me;
        if (place < blockDim.x)
            part[place] += part[place + step];
        __syncthreads();
    }
    if (me == 0)
        out[blockIdx.x] = part[0];
}

__global__ void sum_halves(float *in, float *out, unsigned n)
{
    __shared__ float part[256];
    unsigned me = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    part[me] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (me < half)
            part[me] += part[me + half];
        __syncthreads();
    }
    if (me == 0)
        out[blockIdx.x] = part[0];
}

__global__ void sum_shuffled(float *in, float *out, unsigned n)
{
    __shared__ float of_warps[32];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (i < n)
        sum = in[i];
    for (int far = warpSize / 2; far > 0; far /= 2)
        sum += __shfl_down_sync(~0u, sum, far);
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    if (lane == 0)
        of_warps[warp] = sum;
    __syncthreads();
    sum = threadIdx.x < blockDim.x / warpSize ? of_warps[lane] : 0;
    if (warp == 0)
        for (int far = blockDim.x / warpSize / 2; far > 0; far /= 2)
            sum += __shfl_down_sync(~0u, sum, far);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}
