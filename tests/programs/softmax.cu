// Row-wise softmax and layer norm with block reductions that take a lambda.
#include <cfloat>
#include <cuda_fp16.h>
template <typename Op> __device__ float block_reduce(float v, Op op, float init)
{
    static __shared__ float shared[32];
    int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
    for (int o = 16; o > 0; o /= 2) v = op(v, __shfl_xor_sync(0xffffffff, v, o));
    __syncthreads();
    if (lane == 0) shared[wid] = v;
    __syncthreads();
    v = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : init;
    if (wid == 0) for (int o = 16; o > 0; o /= 2) v = op(v, __shfl_down_sync(0xffffffff, v, o));
    if (threadIdx.x == 0) shared[0] = v;
    __syncthreads();
    return shared[0];
}
__global__ void softmax(const float *x, float *y, int cols)
{
    const float *row = x + blockIdx.x * cols;
    float m = -FLT_MAX;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, row[i]);
    m = block_reduce(m, [](float a, float b) { return fmaxf(a, b); }, -INFINITY);
    float s = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) s += expf(row[i] - m);
    s = block_reduce(s, [](float a, float b) { return a + b; }, 0.f);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = expf(row[i] - m) / s;
}
__global__ void layernorm(const half *x, half *y, const float *gamma, const float *beta, int cols, float eps)
{
    auto add = [](float a, float b) { return a + b; };
    const half *row = x + blockIdx.x * cols;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) { float v = __half2float(row[i]); s += v; q += v * v; }
    float mean = block_reduce(s, add, 0.f) / cols;
    float var = block_reduce(q, add, 0.f) / cols - mean * mean;
    float inv = rsqrtf(var + eps);
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        y[blockIdx.x * cols + i] = __float2half((__half2float(row[i]) - mean) * inv * gamma[i] + beta[i]);
}
