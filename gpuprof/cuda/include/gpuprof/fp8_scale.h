// E8M0: a power of two in 8 bits, the scale of a block of small floats. It has no sign; 0xff is NaN.
#pragma once

#include "fp8.h"

// A float of which the bits under the exponent say whether a step up is due.
GPUPROF_MEMBER __nv_fp8_storage_t gpuprof_e8m0_code(unsigned int magnitude, __nv_saturation_t saturate, bool is_up)
{
    const unsigned int exponent = magnitude >> 23, fraction = magnitude & 0x7fffff;
    const unsigned int code = exponent + (is_up && fraction > (exponent ? 0u : 0x400000u)); // 2^-127 is a subnormal float
    if (magnitude > 0x7f800000)
        return 0xff;
    return (__nv_fp8_storage_t)(code > 0xfe ? (saturate == __NV_SATFINITE ? 0xfe : 0xff) : code);
}
// Towards zero or, for any other mode, up.
GPUPROF_MEMBER __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float v, __nv_saturation_t saturate, cudaRoundMode mode)
{
    return gpuprof_e8m0_code(__builtin_bit_cast(unsigned int, v) & 0x7fffffff, saturate, mode != cudaRoundZero);
}
GPUPROF_MEMBER __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double v, __nv_saturation_t saturate, cudaRoundMode mode)
{
    const double magnitude = __builtin_fabs(v);
    unsigned int bits = __builtin_bit_cast(unsigned int, (float)magnitude);
    // Cut off, with what was lost in the lowest bit.
    if ((double)__builtin_bit_cast(float, bits) > magnitude)
        bits = (bits - 1) | 1;
    else if ((double)__builtin_bit_cast(float, bits) < magnitude)
        bits |= 1;
    return gpuprof_e8m0_code(bits, saturate, mode != cudaRoundZero);
}
GPUPROF_MEMBER __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw v, __nv_saturation_t saturate, cudaRoundMode mode)
{
    return __nv_cvt_float_to_e8m0((float)__nv_bfloat16(v), saturate, mode);
}
GPUPROF_MEMBER float gpuprof_e8m0_float(__nv_fp8_storage_t v)
{
    return v == 0xff ? __builtin_nanf("") : __builtin_bit_cast(float, v ? (unsigned int)v << 23 : 0x400000u);
}
GPUPROF_MEMBER __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t v) { return __nv_bfloat16(gpuprof_e8m0_float(v)); }

// Pairs of scales; the second goes to the upper byte.
GPUPROF_MEMBER __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2 v, __nv_saturation_t saturate, cudaRoundMode mode)
{
    return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_e8m0(v.x, saturate, mode) | __nv_cvt_float_to_e8m0(v.y, saturate, mode) << 8);
}
GPUPROF_MEMBER __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(double2 v, __nv_saturation_t saturate, cudaRoundMode mode)
{
    return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_e8m0(v.x, saturate, mode) | __nv_cvt_double_to_e8m0(v.y, saturate, mode) << 8);
}
GPUPROF_MEMBER __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162_raw v, __nv_saturation_t saturate, cudaRoundMode mode)
{
    return __nv_cvt_float2_to_e8m0x2(__bfloat1622float2(__nv_bfloat162(v)), saturate, mode);
}
GPUPROF_MEMBER __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t v)
{
    return {__nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)v).x, __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)(v >> 8)).x};
}

struct __nv_fp8_e8m0 {
    __nv_fp8_storage_t __x;
    __nv_fp8_e8m0() = default;
    GPUPROF_MEMBER explicit __nv_fp8_e8m0(float v) : __x(__nv_cvt_float_to_e8m0(v, __NV_SATFINITE, cudaRoundPosInf)) {}
    GPUPROF_MEMBER explicit __nv_fp8_e8m0(double v) : __x(__nv_cvt_double_to_e8m0(v, __NV_SATFINITE, cudaRoundPosInf)) {}
    GPUPROF_MEMBER explicit __nv_fp8_e8m0(__half v) : __nv_fp8_e8m0((float)v) {}
    GPUPROF_MEMBER explicit __nv_fp8_e8m0(__nv_bfloat16 v) : __nv_fp8_e8m0((float)v) {}
    GPUPROF_MEMBER explicit operator float() const { return gpuprof_e8m0_float(__x); }
    GPUPROF_MEMBER explicit operator double() const { return (double)gpuprof_e8m0_float(__x); }
    GPUPROF_MEMBER explicit operator __nv_bfloat16() const { return __nv_bfloat16(gpuprof_e8m0_float(__x)); }
};
