// 8-bit floating point. In device code the conversions are the GPU's own (sm_89 and later); without saturation they are
// corrected by hand, as CUDA does. The host's are computed.
#pragma once

#include "half_intrinsics.h"
#include "language.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

struct gpuprof_fp8_format {
    int mantissa_bits, bias;
    double most;
};
GPUPROF_BOTH gpuprof_fp8_format gpuprof_fp8_format_of(__nv_fp8_interpretation_t kind)
{
    return kind == __NV_E4M3 ? gpuprof_fp8_format{3, 7, 448.0} : gpuprof_fp8_format{2, 15, 57344.0};
}
// 2 to the power of n, for n of normal doubles.
GPUPROF_BOTH double gpuprof_power_of_2(int n) { return __builtin_bit_cast(double, (unsigned long long)(n + 1023) << 52); }

// To nearest even, saturated. The significand is an integer of quanta; a carry out of it raises the exponent.
GPUPROF_BOTH __nv_fp8_storage_t gpuprof_fp8_code(double v, __nv_fp8_interpretation_t kind)
{
    const gpuprof_fp8_format format = gpuprof_fp8_format_of(kind);
    const double magnitude = __builtin_fabs(v) > format.most ? format.most : __builtin_fabs(v);
    const int own = (int)(__builtin_bit_cast(unsigned long long, magnitude) >> 52) - 1023;
    const int exponent = own < 1 - format.bias ? 1 - format.bias : own;
    if (v != v)
        return 0x7f;
    const int quanta = (int)__builtin_rint(magnitude * gpuprof_power_of_2(format.mantissa_bits - exponent));
    const int code = ((exponent + format.bias - 1) << format.mantissa_bits) + quanta;
    return (__nv_fp8_storage_t)(code | (__builtin_signbit(v) ? 0x80 : 0));
}
GPUPROF_BOTH double gpuprof_fp8_value(__nv_fp8_storage_t v, __nv_fp8_interpretation_t kind)
{
    const gpuprof_fp8_format format = gpuprof_fp8_format_of(kind);
    const int exponent = (v & 0x7f) >> format.mantissa_bits, fraction = v & ((1 << format.mantissa_bits) - 1);
    const int quanta = fraction + (exponent ? 1 << format.mantissa_bits : 0);
    const double magnitude = quanta * gpuprof_power_of_2((exponent ? exponent : 1) - format.bias - format.mantissa_bits);
    const bool is_special = kind == __NV_E4M3 ? (v & 0x7f) == 0x7f : exponent == 31;
    const double special = kind == __NV_E5M2 && !fraction ? __builtin_inf() : __builtin_nan("");
    return (v & 0x80 ? -1.0 : 1.0) * (is_special ? special : magnitude);
}

// b goes to the lower byte.
GPUPROF_MEMBER __nv_fp8x2_storage_t gpuprof_fp8_pair(float a, float b, __nv_fp8_interpretation_t kind)
{
#ifdef __CUDA_ARCH__
    __nv_fp8x2_storage_t result;
    if (kind == __NV_E4M3)
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(result) : "f"(a), "f"(b));
    else
        asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(result) : "f"(a), "f"(b));
    return result;
#else
    return (__nv_fp8x2_storage_t)(gpuprof_fp8_code(a, kind) << 8 | gpuprof_fp8_code(b, kind));
#endif
}

// What does not round to a finite number: infinity in E5M2, NaN in E4M3, which has no infinity.
GPUPROF_MEMBER __nv_fp8_storage_t gpuprof_fp8_overflow(__nv_fp8_storage_t code, float v, __nv_fp8_interpretation_t kind)
{
    float magnitude = __builtin_fabsf(v);
    bool over = kind == __NV_E4M3 ? magnitude > 464.0f : magnitude >= 61440.0f;
    return over ? (__nv_fp8_storage_t)((code & 0x80) | (kind == __NV_E4M3 ? 0x7f : 0x7c)) : code;
}

GPUPROF_MEMBER __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    __nv_fp8_storage_t code = (__nv_fp8_storage_t)gpuprof_fp8_pair(0.0f, v, kind);
    return saturate == __NV_SATFINITE ? code : gpuprof_fp8_overflow(code, v, kind);
}
GPUPROF_MEMBER __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    if (saturate == __NV_SATFINITE)
        return gpuprof_fp8_pair(v.y, v.x, kind);
    return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(v.x, saturate, kind) | __nv_cvt_float_to_fp8(v.y, saturate, kind) << 8);
}
GPUPROF_MEMBER __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v, __nv_fp8_interpretation_t kind)
{
#ifdef __CUDA_ARCH__
    unsigned int pair;
    if (kind == __NV_E4M3)
        asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(v));
    else
        asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(pair) : "h"(v));
    return {(unsigned short)pair, (unsigned short)(pair >> 16)};
#else
    return {__half_as_ushort(__half(gpuprof_fp8_value((__nv_fp8_storage_t)v, kind))),
            __half_as_ushort(__half(gpuprof_fp8_value((__nv_fp8_storage_t)(v >> 8), kind)))};
#endif
}
GPUPROF_MEMBER __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t kind)
{
    return {__nv_cvt_fp8x2_to_halfraw2(v, kind).x};
}
GPUPROF_MEMBER float gpuprof_fp8_float(__nv_fp8_storage_t v, __nv_fp8_interpretation_t kind)
{
    return (float)__builtin_bit_cast(_Float16, __nv_cvt_fp8_to_halfraw(v, kind));
}
GPUPROF_MEMBER float2 gpuprof_fp8_float2(__nv_fp8x2_storage_t v, __nv_fp8_interpretation_t kind)
{
    return {gpuprof_fp8_float((__nv_fp8_storage_t)v, kind), gpuprof_fp8_float((__nv_fp8_storage_t)(v >> 8), kind)};
}
GPUPROF_MEMBER __nv_fp8_storage_t __nv_cvt_double_to_fp8(double v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    float near = (float)v, back = __builtin_fabsf(near);
    // A NaN keeps its sign, which one from a float loses, and E5M2 the top of its payload.
    if (v != v) {
        const unsigned long long bits = __builtin_bit_cast(unsigned long long, v);
        return (__nv_fp8_storage_t)((bits >> 63 << 7) | (kind == __NV_E4M3 ? 0x7f : 0x7e | (bits >> 50 & 3)));
    }
    // Rounded to odd, so that the next rounding comes out as if from the double.
    if ((double)near != v && !(__builtin_bit_cast(unsigned int, near) & 1) && back < __builtin_inff()) {
        bool up = __builtin_fabs(v) > (double)back;
        near = __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, near) + (up ? 1 : -1));
    }
    return __nv_cvt_float_to_fp8(near, saturate, kind);
}
GPUPROF_MEMBER __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8((float)__builtin_bit_cast(_Float16, v), saturate, kind);
}

GPUPROF_MEMBER __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(v.x, saturate, kind) | __nv_cvt_double_to_fp8(v.y, saturate, kind) << 8);
}
GPUPROF_MEMBER __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float2_to_fp8x2(__half22float2(__half2(v)), saturate, kind);
}
GPUPROF_MEMBER __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float_to_fp8((float)__nv_bfloat16(v), saturate, kind);
}
GPUPROF_MEMBER __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw v, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(__nv_bfloat162(v)), saturate, kind);
}

// One, two and four of a kind. The constructors saturate, as CUDA's do.
#define GPUPROF_FP8(NAME, PAIR, FOUR, KIND)                                                                                                \
    struct NAME {                                                                                                                          \
        __nv_fp8_storage_t __x;                                                                                                            \
        NAME() = default;                                                                                                                  \
        GPUPROF_MEMBER explicit NAME(float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, KIND)) {}                                     \
        GPUPROF_MEMBER explicit NAME(double v) : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, KIND)) {}                                   \
        GPUPROF_MEMBER explicit NAME(int v) : NAME((double)v) {}                                                                           \
        GPUPROF_MEMBER explicit NAME(unsigned int v) : NAME((double)v) {}                                                                  \
        GPUPROF_MEMBER explicit NAME(short v) : NAME((double)v) {}                                                                         \
        GPUPROF_MEMBER explicit NAME(unsigned short v) : NAME((double)v) {}                                                                \
        GPUPROF_MEMBER explicit NAME(long v) : NAME((double)v) {}                                                                          \
        GPUPROF_MEMBER explicit NAME(unsigned long v) : NAME((double)v) {}                                                                 \
        GPUPROF_MEMBER explicit NAME(long long v) : NAME((double)v) {}                                                                     \
        GPUPROF_MEMBER explicit NAME(unsigned long long v) : NAME((double)v) {}                                                            \
        GPUPROF_MEMBER explicit NAME(__half v) : NAME((float)v) {}                                                                         \
        GPUPROF_MEMBER explicit NAME(__nv_bfloat16 v) : NAME((float)v) {}                                                                  \
        GPUPROF_MEMBER explicit operator float() const { return gpuprof_fp8_float(__x, KIND); }                                            \
        GPUPROF_MEMBER explicit operator double() const { return (double)gpuprof_fp8_float(__x, KIND); }                                   \
        GPUPROF_MEMBER explicit operator __half() const { return __half(gpuprof_fp8_float(__x, KIND)); }                                   \
        GPUPROF_MEMBER explicit operator __nv_bfloat16() const { return __nv_bfloat16(gpuprof_fp8_float(__x, KIND)); }                     \
        GPUPROF_MEMBER explicit operator bool() const { return (__x & 0x7f) != 0; }                                                        \
        GPUPROF_MEMBER explicit operator int() const { return (int)gpuprof_fp8_float(__x, KIND); }                                         \
        GPUPROF_MEMBER explicit operator unsigned int() const { return (unsigned int)gpuprof_fp8_float(__x, KIND); }                       \
        GPUPROF_MEMBER explicit operator short() const { return (short)gpuprof_fp8_float(__x, KIND); }                                     \
        GPUPROF_MEMBER explicit operator unsigned short() const { return (unsigned short)gpuprof_fp8_float(__x, KIND); }                   \
        GPUPROF_MEMBER explicit operator long() const { return (long)gpuprof_fp8_float(__x, KIND); }                                       \
        GPUPROF_MEMBER explicit operator unsigned long() const { return (unsigned long)gpuprof_fp8_float(__x, KIND); }                     \
        GPUPROF_MEMBER explicit operator long long() const { return (long long)gpuprof_fp8_float(__x, KIND); }                             \
        GPUPROF_MEMBER explicit operator unsigned long long() const { return (unsigned long long)gpuprof_fp8_float(__x, KIND); }           \
    };                                                                                                                                     \
    struct __align__(2) PAIR {                                                                                                             \
        __nv_fp8x2_storage_t __x;                                                                                                          \
        PAIR() = default;                                                                                                                  \
        GPUPROF_MEMBER explicit PAIR(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, KIND)) {}                                 \
        GPUPROF_MEMBER explicit PAIR(double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, KIND)) {}                               \
        GPUPROF_MEMBER explicit PAIR(__nv_bfloat162 v) : PAIR(__bfloat1622float2(v)) {}                                                    \
        GPUPROF_MEMBER explicit operator __nv_bfloat162() const { return __float22bfloat162_rn((float2)*this); }                           \
        GPUPROF_MEMBER explicit PAIR(__half2 v) : PAIR(float2{(float)v.x, (float)v.y}) {}                                                  \
        GPUPROF_MEMBER explicit operator float2() const { return gpuprof_fp8_float2(__x, KIND); }                                          \
        GPUPROF_MEMBER explicit operator __half2() const { return __builtin_bit_cast(__half2, __nv_cvt_fp8x2_to_halfraw2(__x, KIND)); }    \
    };                                                                                                                                     \
    struct __align__(4) FOUR {                                                                                                             \
        __nv_fp8x4_storage_t __x;                                                                                                          \
        FOUR() = default;                                                                                                                  \
        GPUPROF_MEMBER explicit FOUR(float4 v)                                                                                             \
            : __x(__nv_cvt_float2_to_fp8x2({v.x, v.y}, __NV_SATFINITE, KIND) |                                                             \
                  (unsigned int)__nv_cvt_float2_to_fp8x2({v.z, v.w}, __NV_SATFINITE, KIND) << 16)                                          \
        {                                                                                                                                  \
        }                                                                                                                                  \
        GPUPROF_MEMBER explicit FOUR(double4 v) : FOUR(PAIR(double2{v.x, v.y}), PAIR(double2{v.z, v.w})) {}                                \
        GPUPROF_MEMBER explicit FOUR(__half2 low, __half2 high) : FOUR(PAIR(low), PAIR(high)) {}                                           \
        GPUPROF_MEMBER explicit FOUR(__nv_bfloat162 low, __nv_bfloat162 high) : FOUR(PAIR(low), PAIR(high)) {}                             \
        GPUPROF_MEMBER FOUR(PAIR low, PAIR high) : __x(low.__x | (unsigned int)high.__x << 16) {}                                          \
        GPUPROF_MEMBER explicit operator float4() const                                                                                    \
        {                                                                                                                                  \
            float2 low = gpuprof_fp8_float2((__nv_fp8x2_storage_t)__x, KIND);                                                              \
            float2 high = gpuprof_fp8_float2((__nv_fp8x2_storage_t)(__x >> 16), KIND);                                                     \
            return {low.x, low.y, high.x, high.y};                                                                                         \
        }                                                                                                                                  \
    };
GPUPROF_FP8(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
GPUPROF_FP8(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef GPUPROF_FP8
