// Each block streams a table of weights through shared memory, tile by tile, and applies it to its elements.
//
// LAUNCH: apply<<<108, 256>>>(x: f32[27648]=random, weights: f32[16,256]=random, out: f32[27648], 16)

#include <cuda_pipeline.h>

constexpr int WIDTH = 256;

__device__ float applied(float value, const float *tile)
{
    float sum = 0;
    for (int k = 0; k < WIDTH / 4; k++)
        sum += value * tile[(threadIdx.x + k) % WIDTH];
    return sum;
}

__global__ void apply(const float *x, const float *weights, float *out, int tiles)
{
    __shared__ float tile[2][WIDTH];
    int i = blockIdx.x * WIDTH + threadIdx.x;
    float value = x[i], sum = 0;
    __pipeline_memcpy_async(&tile[0][threadIdx.x], &weights[threadIdx.x], 4);
    __pipeline_commit();
    for (int t = 0; t < tiles; t++) {
        if (t + 1 < tiles)
            __pipeline_memcpy_async(&tile[(t + 1) % 2][threadIdx.x], &weights[(t + 1) * WIDTH + threadIdx.x], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += applied(value, tile[t % 2]);
        __syncthreads();
    }
    out[i] = sum;
}
