#include <cfloat>
// Softmax of each row, with a running maximum and a running sum.

// LAUNCH: thread_a_row<<<4, 256>>>(in: f32[1024,256]=random, out: f32[1024,256], 1024, 256)
__global__ void thread_a_row(const float *in, float *out, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float *from = in + (size_t)row * columns;
    float *to = out + (size_t)row * columns;
    float top = -FLT_MAX, sum = 0;
    for (int c = 0; c < columns; c++) {
        float value = from[c], higher = fmaxf(top, value);
        sum = sum * expf(top - higher) + expf(value - higher);
        top = higher;
    }
    for (int c = 0; c < columns; c++) to[c] = expf(from[c] - top) / sum;
}

__device__ void join(float &top, float &sum, float other_top, float other_sum)
{
    float higher = fmaxf(top, other_top);
    sum = sum * expf(top - higher) + other_sum * expf(other_top - higher);
    top = higher;
}

// LAUNCH: block_a_row<<<1024, 256>>>(in, out, 256)
__global__ void block_a_row(const float *in, float *out, int columns)
{
    __shared__ float tops[8], sums[8];
    const float *from = in + (size_t)blockIdx.x * columns;
    float *to = out + (size_t)blockIdx.x * columns;
    float top = -FLT_MAX, sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        float value = from[c], higher = fmaxf(top, value);
        sum = sum * expf(top - higher) + expf(value - higher);
        top = higher;
    }
    for (int d = 16; d > 0; d /= 2)
        join(top, sum, __shfl_xor_sync(~0u, top, d), __shfl_xor_sync(~0u, sum, d));
    if (threadIdx.x % 32 == 0) tops[threadIdx.x / 32] = top, sums[threadIdx.x / 32] = sum;
    __syncthreads();
    top = tops[threadIdx.x % 8], sum = sums[threadIdx.x % 8];
    for (int d = 4; d > 0; d /= 2)
        join(top, sum, __shfl_xor_sync(~0u, top, d), __shfl_xor_sync(~0u, sum, d));
    for (int c = threadIdx.x; c < columns; c += blockDim.x) to[c] = expf(from[c] - top) / sum;
}
