// Option prices, a fast Walsh transform, Monte Carlo, many bodies.
#include <math.h>
__device__ inline float cndGPU(float d)
{
    const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f,
                RSQRT2PI = 0.39894228040143267793994605993438f;
    float K = __fdividef(1.0f, (1.0f + 0.2316419f * fabsf(d)));
    float cnd = RSQRT2PI * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    if (d > 0)
        cnd = 1.0f - cnd;
    return cnd;
}
__device__ inline void BlackScholesBodyGPU(float &CallResult, float &PutResult, float S, float X, float T, float R, float V)
{
    float sqrtT = __fdividef(1.0F, rsqrtf(T));
    float d1 = __fdividef(__logf(S / X) + (R + 0.5f * V * V) * T, V * sqrtT), d2 = d1 - V * sqrtT;
    float CNDD1 = cndGPU(d1), CNDD2 = cndGPU(d2);
    float expRT = __expf(-R * T);
    CallResult = S * CNDD1 - X * expRT * CNDD2;
    PutResult = X * expRT * (1.0f - CNDD2) - S * (1.0f - CNDD1);
}
__launch_bounds__(128) __global__
    void BlackScholesGPU(float2 *__restrict d_CallResult, float2 *__restrict d_PutResult, float2 *__restrict d_StockPrice,
                         float2 *__restrict d_OptionStrike, float2 *__restrict d_OptionYears, float Riskfree, float Volatility, int optN)
{
    const int opt = blockDim.x * blockIdx.x + threadIdx.x;
    if (opt < (optN / 2)) {
        float c1, c2, p1, p2;
        BlackScholesBodyGPU(c1, p1, d_StockPrice[opt].x, d_OptionStrike[opt].x, d_OptionYears[opt].x, Riskfree, Volatility);
        BlackScholesBodyGPU(c2, p2, d_StockPrice[opt].y, d_OptionStrike[opt].y, d_OptionYears[opt].y, Riskfree, Volatility);
        d_CallResult[opt] = make_float2(c1, c2);
        d_PutResult[opt] = make_float2(p1, p2);
    }
}
// binomial, MersenneTwister-less Monte Carlo, inverse CND, walsh
__global__ void fwtBatch1Kernel(float *d_Output, float *d_Input, int log2N)
{
    const int N = 1 << log2N, base = blockIdx.x << log2N;
    extern __shared__ float s_data[];
    float *d_Src = d_Input + base, *d_Dst = d_Output + base;
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x)
        s_data[pos] = d_Src[pos];
    const int pos = threadIdx.x;
    for (int stride = N >> 2; stride > 0; stride >>= 2) {
        int lo = pos & (stride - 1), i0 = ((pos - lo) << 2) + lo, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
        __syncthreads();
        float D0 = s_data[i0], D1 = s_data[i1], D2 = s_data[i2], D3 = s_data[i3], T;
        T = D0;
        D0 = D0 + D2;
        D2 = T - D2;
        T = D1;
        D1 = D1 + D3;
        D3 = T - D3;
        T = D0;
        s_data[i0] = D0 + D1;
        s_data[i1] = T - D1;
        T = D2;
        s_data[i2] = D2 + D3;
        s_data[i3] = T - D3;
    }
    if (log2N & 1) {
        __syncthreads();
        for (int pos = threadIdx.x; pos < N / 2; pos += blockDim.x) {
            int i0 = pos << 1, i1 = i0 + 1;
            float D0 = s_data[i0], D1 = s_data[i1];
            s_data[i0] = D0 + D1;
            s_data[i1] = D0 - D1;
        }
    }
    __syncthreads();
    for (int pos = threadIdx.x; pos < N; pos += blockDim.x)
        d_Dst[pos] = s_data[pos];
}
__device__ unsigned wang(unsigned s)
{
    s = (s ^ 61) ^ (s >> 16);
    s *= 9;
    s = s ^ (s >> 4);
    s *= 0x27d4eb2d;
    return s ^ (s >> 15);
}
#if __CUDA_ARCH__ >= 800  // chips before have no sum over a warp
__global__ void monteCarloPi(unsigned long long *hits, int n)
{
    unsigned s = wang(blockIdx.x * blockDim.x + threadIdx.x + 1), mine = 0;
    for (int i = 0; i < n; i++) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        float x = s * 2.3283064365386963e-10f;
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        float y = s * 2.3283064365386963e-10f;
        mine += x * x + y * y <= 1.0f;
    }
    mine = __reduce_add_sync(~0u, mine);
    if (threadIdx.x % 32 == 0)
        atomicAdd(hits, (unsigned long long)mine);
}
#endif
template <int BS> __device__ float3 bodyBodyInteraction(float3 ai, float4 bi, float4 bj)
{
    float3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z;
    distSqr += 0.01f;
    float invDist = rsqrt(distSqr), invDistCube = invDist * invDist * invDist, s = bj.w * invDistCube;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}
__global__ void integrateBodies(float4 *__restrict__ newPos, float4 *__restrict__ oldPos, float4 *vel, float deltaTime, float damping,
                                int numTiles)
{
    extern __shared__ float4 sharedPos[];
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    float4 position = oldPos[index];
    float3 acc = {0.0f, 0.0f, 0.0f};
    for (int tile = 0; tile < numTiles; tile++) {
        sharedPos[threadIdx.x] = oldPos[tile * blockDim.x + threadIdx.x];
        __syncthreads();
#pragma unroll 128
        for (unsigned int counter = 0; counter < blockDim.x; counter++)
            acc = bodyBodyInteraction<128>(acc, position, sharedPos[counter]);
        __syncthreads();
    }
    float4 velocity = vel[index];
    velocity.x += acc.x * deltaTime;
    velocity.y += acc.y * deltaTime;
    velocity.z += acc.z * deltaTime;
    velocity.x *= damping;
    velocity.y *= damping;
    velocity.z *= damping;
    position.x += velocity.x * deltaTime;
    position.y += velocity.y * deltaTime;
    position.z += velocity.z * deltaTime;
    newPos[index] = position;
    vel[index] = velocity;
}
