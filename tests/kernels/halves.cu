// 16-bit floating point: arithmetic, comparisons, conversions, pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// ARCH: sm_80
// LAUNCH: half_arithmetic<<<2, 64>>>(a: u16[256]=random, b: u16[256]=random, half_arithmetic: u16[4096])
// LAUNCH: half_pairs<<<2, 64>>>(a, b, half_pairs: u32[2048])
// LAUNCH: half_compare<<<2, 64>>>(a, b, half_compare: u32[512])
// LAUNCH: half_convert<<<2, 64>>>(a, half_convert: u64[2048])
// LAUNCH: bfloat_arithmetic<<<2, 64>>>(a, b, bfloat_arithmetic: u16[2048])
// LAUNCH: bfloat_pairs<<<2, 64>>>(a, b, bfloat_pairs: u32[1024])
// LAUNCH: half_math<<<2, 64>>>(half_math: u16[1024])

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

__device__ unsigned short bits(__half x) { return __hisnan(x) ? 0x7fff : __half_as_ushort(x); }
__device__ unsigned short bits(__nv_bfloat16 x) { return __hisnan(x) ? 0x7fff : __bfloat16_as_ushort(x); }
__device__ unsigned bits(__half2 x) { return bits(__low2half(x)) | (unsigned)bits(__high2half(x)) << 16; }
__device__ unsigned bits(__nv_bfloat162 x) { return bits(__low2bfloat16(x)) | (unsigned)bits(__high2bfloat16(x)) << 16; }

extern "C" __global__ void half_arithmetic(const unsigned short *x, const unsigned short *y, unsigned short *out)
{
    int i = INDEX;
    __half a = __ushort_as_half(x[i]), b = __ushort_as_half(y[i]), c = __ushort_as_half(y[i + 128]);
    unsigned short *o = out + 32 * i;
    o[0] = bits(__hadd(a, b));
    o[1] = bits(__hsub(a, b));
    o[2] = bits(__hmul(a, b));
    o[3] = bits(__hfma(a, b, c));
    o[4] = bits(__hneg(a));
    o[5] = bits(__habs(a));
    o[6] = bits(__hdiv(a, b));
    o[7] = bits(__hadd_sat(a, b));
    o[8] = bits(__hmul_sat(a, b));
    o[9] = bits(__hfma_sat(a, b, c));
    o[10] = bits(__hmin(a, b));
    o[11] = bits(__hmax(a, b));
    o[12] = bits(hfloor(a));
    o[13] = bits(hceil(a));
    o[14] = bits(htrunc(a));
    o[15] = bits(hrint(a));
    o[17] = bits(-a);
    o[18] = bits(a - __float2half(1.5f));
    a += b;
    o[19] = bits(a);
    o[20] = bits(hsqrt(__habs(b)));
    o[21] = bits(__hsub_sat(b, c));
}

extern "C" __global__ void half_pairs(const unsigned short *x, const unsigned short *y, unsigned *out)
{
    int i = INDEX;
    __half2 a = ((const __half2 *)x)[i], b = ((const __half2 *)y)[i], c = __lowhigh2highlow(b);
    unsigned *o = out + 16 * i;
    o[0] = bits(__hadd2(a, b));
    o[1] = bits(__hsub2(a, b));
    o[2] = bits(__hmul2(a, b));
    o[3] = bits(__hfma2(a, b, c));
    o[4] = bits(__hneg2(a));
    o[5] = bits(__habs2(a));
    o[6] = bits(__hadd2_sat(a, b));
    o[7] = bits(__hmin2(a, b));
    o[8] = bits(__hmax2(a, b));
    o[9] = bits(__halves2half2(__high2half(a), __low2half(b)));
    o[10] = bits(__half2half2(__low2half(a)));
    o[11] = bits(__lows2half2(a, b));
    o[12] = bits(__highs2half2(a, b));
    o[13] = bits(__heq2(a, b)) ^ bits(__hlt2(a, b));
    o[14] = bits(__hge2(a, c));
}

extern "C" __global__ void half_compare(const unsigned short *x, const unsigned short *y, unsigned *out)
{
    int i = INDEX;
    __half a = __ushort_as_half(x[i]), b = __ushort_as_half(i % 4 ? y[i] : x[i]);
    unsigned *o = out + 4 * i;
    o[0] = __heq(a, b) + 2 * __hne(a, b) + 4 * __hlt(a, b) + 8 * __hle(a, b) + 16 * __hgt(a, b) + 32 * __hge(a, b);
    o[1] = __hequ(a, b) + 2 * __hneu(a, b) + 4 * __hltu(a, b) + 8 * __hleu(a, b) + 16 * __hgtu(a, b) + 32 * __hgeu(a, b);
    o[2] = __hisnan(a) + 2 * (__hisinf(a) != 0) + 4 * (a < b) + 8 * (a == b);
    o[3] = __hbeq2(((const __half2 *)x)[i], ((const __half2 *)y)[i]) + 2 * __hbge2(((const __half2 *)x)[i], ((const __half2 *)y)[i]);
}

extern "C" __global__ void half_convert(const unsigned short *x, unsigned long long *out)
{
    int i = INDEX;
    __half a = __ushort_as_half(x[i]);
    float f = (short)x[i] * 3.7f;
    unsigned long long *o = out + 16 * i;
    float wide = __half2float(a);
    o[0] = wide != wide ? 0 : __float_as_uint(wide);
    o[1] = bits(__float2half(f));
    o[2] = bits(__float2half_rz(f));
    o[3] = bits(__float2half_ru(f));
    o[4] = bits(__float2half_rd(f));
    o[5] = __half2int_rn(a);
    o[6] = __half2int_rz(a);
    o[7] = __half2uint_rn(__habs(a));
    o[8] = bits(__int2half_rn((short)x[i] * 5));
    o[9] = bits(__ushort2half_rn(x[i]));
    o[10] = bits(__short2half_rn((short)x[i]));
    o[11] = __half2short_rn(a);
    o[12] = bits(__double2half((double)f * 1.0001));
    o[13] = bits(__floats2half2_rn(f, -f));
    float2 both = __half22float2(__half2half2(a));
    o[14] = both.x == both.y;
    o[15] = __half2ll_rn(a) + (long long)bits(__ull2half_rn(x[i]));
}

extern "C" __global__ void bfloat_arithmetic(const unsigned short *x, const unsigned short *y, unsigned short *out)
{
    int i = INDEX;
    __nv_bfloat16 a = __ushort_as_bfloat16(x[i]), b = __ushort_as_bfloat16(y[i]), c = __ushort_as_bfloat16(y[i + 128]);
    unsigned short *o = out + 16 * i;
    o[0] = bits(__hadd(a, b));
    o[1] = bits(__hsub(a, b));
    o[2] = bits(__hmul(a, b));
    o[3] = bits(__hfma(a, b, c));
    o[4] = bits(__hneg(a));
    o[5] = bits(__habs(a));
    o[6] = bits(__hmin(a, b));
    o[7] = bits(__hmax(a, b));
    o[8] = bits(__float2bfloat16((short)x[i] * 3.7f));
    o[9] = bits(__float2bfloat16_rz((short)x[i] * 3.7f));
    o[10] = __hlt(a, b) + 2 * __hge(a, b) + 4 * __heq(a, a) + 8 * __hne(a, b);
    o[11] = bits(a + b);
    o[12] = bits(a * b);
    float wide = __bfloat162float(a);
    o[13] = wide == wide ? (unsigned short)(__float_as_uint(wide) >> 16) : 0;
}

extern "C" __global__ void bfloat_pairs(const unsigned short *x, const unsigned short *y, unsigned *out)
{
    int i = INDEX;
    __nv_bfloat162 a = ((const __nv_bfloat162 *)x)[i], b = ((const __nv_bfloat162 *)y)[i];
    unsigned *o = out + 8 * i;
    o[0] = bits(__hadd2(a, b));
    o[1] = bits(__hsub2(a, b));
    o[2] = bits(__hmul2(a, b));
    o[3] = bits(__hfma2(a, b, a));
    o[4] = bits(__hmax2(a, b));
    o[5] = bits(__floats2bfloat162_rn(i * 1.1f, i * -2.3f));
    o[6] = bits(__hneg2(a));
    o[7] = bits(__halves2bfloat162(__high2bfloat16(a), __low2bfloat16(b)));
}

extern "C" __global__ void half_math(unsigned short *out)
{
    int i = INDEX;
    __half a = __float2half((i - 64) * 0.07f), p = __float2half((i + 1) * 0.13f);
    unsigned short *o = out + 8 * i;
    o[0] = bits(hrcp(p));
    o[1] = bits(hrsqrt(p));
    o[2] = bits(__hadd(a, p));
    o[3] = bits(__float2half(__half2float(a) * 0.5f));
    o[4] = bits(hsqrt(p));
}
