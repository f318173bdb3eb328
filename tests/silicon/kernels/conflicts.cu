// Loads from shared memory, the lanes of a warp `stride` words apart.

__global__ void strided(float *out, int stride, int)
{
    __shared__ float words[8192];
    for (int i = threadIdx.x; i < 8192; i += blockDim.x)
        words[i] = i * 1.0f;
    __syncthreads();
    float sum = 0.0f;
#pragma unroll 1
    for (int i = 0; i < 32; i++) {
        int at = threadIdx.x * stride % 8192;
        sum += words[at];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
