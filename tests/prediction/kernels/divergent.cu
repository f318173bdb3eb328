// Lanes, warps and blocks that do not have the same to do, and loads through computed places.

__device__ float steps(float x, int turns)
{
    for (int k = 0; k < turns; k++)
        x = x * 0.75f + 0.5f;
    return x;
}

__global__ void lanes_differ(float *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = steps(data[i], 4 * (i % 32));
}

__global__ void warps_differ(float *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = steps(data[i], 32 * (i / 32 % 8));
}

// One block of sixteen has sixteen times the work.
__global__ void blocks_differ(float *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = steps(data[i], blockIdx.x % 16 ? 64 : 1024);
}

__global__ void eight_ways(float *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = data[i];
    switch (i % 8) {
    case 0: x = steps(x, 10); break;
    case 1: x = sqrtf(x); break;
    case 2: x = x * x + 1; break;
    case 3: x = steps(x, 20) - 1; break;
    case 4: x = __expf(x); break;
    case 5: x = 1 / (x + 1); break;
    case 6: x = x - steps(x, 5); break;
    default: x = -x; break;
    }
    data[i] = x;
}

__device__ unsigned scattered(unsigned i)
{
    i ^= i >> 16;
    i *= 0x7feb352du;
    i ^= i >> 15;
    return i;
}

// `mask` + 1 words are read at random, `loads` of them a thread.
__global__ void random_loads(const float *in, float *out, unsigned mask, int loads)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < loads; k++)
        sum += in[scattered(i * loads + k) & mask];
    out[i] = sum;
}

__global__ void random_stores(float *out, unsigned mask)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[scattered(i) & mask] = i;
}
