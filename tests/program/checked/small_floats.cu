// 16-bit and 8-bit floating point: the host computes what the device's instructions do, bit for bit.
#include "check.h"
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
constexpr int n = 2048;
struct Found {
    unsigned short half_sum, bfloat_up, bfloat_of_int[4];
    unsigned four, pair;
    unsigned short e4m3, e5m2;
    int rounded[3];
    float back;
};
__host__ __device__ Found found(float x, int i)
{
    Found f = {};
    const bool is_small = x > -100 && x < 100; // no infinities, whose sums have a NaN of the machine's own
    const __half2 both = __halves2half2(__float2half(is_small ? x : 3.0f), __float2half(0.5f));
    f.half_sum = __half_as_ushort(__high2half(__hadd2(both, both))) ^ __half_as_ushort(__low2half(__hfma2(both, both, both)));
    f.bfloat_up = __bfloat16_as_ushort(__float2bfloat16_ru(x));
    f.bfloat_of_int[0] = __bfloat16_as_ushort(__int2bfloat16_rn(i));
    f.bfloat_of_int[1] = __bfloat16_as_ushort(__int2bfloat16_rz(i));
    f.bfloat_of_int[2] = __bfloat16_as_ushort(__uint2bfloat16_ru((unsigned)i));
    f.bfloat_of_int[3] = __bfloat16_as_ushort(__ll2bfloat16_rd(-(long long)i * i));
    const __nv_fp8x4_e4m3 four(both, both);
    f.four = four.__x;
    f.pair = __nv_fp8x2_e5m2(make_double2(x, -x)).__x;
    f.e4m3 = __nv_fp8_e4m3(x).__x;
    f.e5m2 = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2);
    f.rounded[0] = __bfloat162int_rn(__nv_bfloat16(x));
    f.rounded[1] = __bfloat162short_rd(__nv_bfloat16(x));
    f.rounded[2] = (int)__nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf);
    f.back = ((float4)four).x;
    return f;
}
__global__ void all(const float *x, Found *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = found(x[i], (int)(i * 2654435761u));
}
int main()
{
    static float host[n];
    static Found got[n];
    float *x;
    Found *out;
    for (int i = 0; i < n; ++i) {
        const unsigned bits = i * 2654435761u;
        memcpy(&host[i], &bits, sizeof bits);
        if (i % 2 || host[i] != host[i])
            host[i] = (i - 1000) * 0.123f;
    }
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaMalloc(&out, sizeof got));
    CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    all<<<n / 128, 128>>>(x, out);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    int n_different = 0;
    for (int i = 0; i < n; ++i) {
        const Found expected = found(host[i], (int)(i * 2654435761u));
        n_different += memcmp(&expected, &got[i], sizeof expected) != 0;
    }
    return verdict(n_different == 0);
}
