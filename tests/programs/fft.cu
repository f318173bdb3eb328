// Radix-2 Fourier transforms of 2^LOGN points, one a block.
#include <math.h>
#include <cuda_runtime.h>
__device__ float2 operator*(float2 a, float2 b) { return {a.x*b.x - a.y*b.y, a.x*b.y + a.y*b.x}; }
__device__ float2 operator+(float2 a, float2 b) { return {a.x+b.x, a.y+b.y}; }
__device__ float2 operator-(float2 a, float2 b) { return {a.x-b.x, a.y-b.y}; }
template <int LOGN> __global__ void fft(float2 *data)
{
    constexpr int N = 1 << LOGN;
    __shared__ float2 s[N];
    float2 *d = data + (size_t)blockIdx.x * N;
    for (int i = threadIdx.x; i < N; i += blockDim.x) s[__brev(i) >> (32 - LOGN)] = d[i];
    __syncthreads();
    for (int len = 2; len <= N; len <<= 1) {
        for (int t = threadIdx.x; t < N / 2; t += blockDim.x) {
            int half = len / 2, k = t % half, j = (t / half) * len + k;
            float sn, cs;
            sincosf(-2.0f * 3.14159265358979f * k / len, &sn, &cs);
            float2 u = s[j], v = s[j + half] * make_float2(cs, sn);
            s[j] = u + v; s[j + half] = u - v;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < N; i += blockDim.x) d[i] = s[i];
}
