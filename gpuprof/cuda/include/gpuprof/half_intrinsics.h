// The rest of the 16-bit intrinsics: saturation, comparisons side by side, conversions with a rounding of their own.
#pragma once

#include "half.h"
#include "rounding.h"
#ifdef __CUDA__
#include "floating.h"
#include "half_math.h"
#endif

#define GPUPROF_HALF_MORE(S, V)                                                                                                            \
    GPUPROF_BOTH S gpuprof_saturated(S x) { return x > S(0.0f) ? (x < S(1.0f) ? x : S(1.0f)) : S(0.0f); }                                  \
    GPUPROF_BOTH V gpuprof_saturated(V v) { return V(gpuprof_saturated(v.x), gpuprof_saturated(v.y)); }                                    \
    GPUPROF_BOTH S __hadd_sat(S a, S b) { return gpuprof_saturated(__hadd(a, b)); }                                                        \
    GPUPROF_BOTH S __hsub_sat(S a, S b) { return gpuprof_saturated(__hsub(a, b)); }                                                        \
    GPUPROF_BOTH S __hmul_sat(S a, S b) { return gpuprof_saturated(__hmul(a, b)); }                                                        \
    GPUPROF_BOTH S __hfma_sat(S a, S b, S c) { return gpuprof_saturated(__hfma(a, b, c)); }                                                \
    GPUPROF_BOTH V __hadd2_sat(V a, V b) { return gpuprof_saturated(__hadd2(a, b)); }                                                      \
    GPUPROF_BOTH V __hsub2_sat(V a, V b) { return gpuprof_saturated(__hsub2(a, b)); }                                                      \
    GPUPROF_BOTH V __hmul2_sat(V a, V b) { return gpuprof_saturated(__hmul2(a, b)); }                                                      \
    GPUPROF_BOTH V __hfma2_sat(V a, V b, V c) { return gpuprof_saturated(__hfma2(a, b, c)); }                                              \
    GPUPROF_BOTH S __hfma_relu(S a, S b, S c)                                                                                              \
    {                                                                                                                                      \
        S r = __hfma(a, b, c);                                                                                                             \
        return r < S(0.0f) ? S(0.0f) : r;                                                                                                  \
    }                                                                                                                                      \
    GPUPROF_BOTH S __hadd_rn(S a, S b) { return __hadd(a, b); }                                                                            \
    GPUPROF_BOTH S __hsub_rn(S a, S b) { return __hsub(a, b); }                                                                            \
    GPUPROF_BOTH S __hmul_rn(S a, S b) { return __hmul(a, b); }                                                                            \
    GPUPROF_BOTH V __hadd2_rn(V a, V b) { return __hadd2(a, b); }                                                                          \
    GPUPROF_BOTH V __hsub2_rn(V a, V b) { return __hsub2(a, b); }                                                                          \
    GPUPROF_BOTH V __hmul2_rn(V a, V b) { return __hmul2(a, b); }                                                                          \
    GPUPROF_BOTH int __hisinf(S x) { return (float)x == __builtin_inff() ? 1 : (float)x == -__builtin_inff() ? -1 : 0; }                   \
    GPUPROF_BOTH V __hisnan2(V v) { return V(S(__hisnan(v.x) ? 1.0f : 0.0f), S(__hisnan(v.y) ? 1.0f : 0.0f)); }                            \
    GPUPROF_HALF_COMPARE(S, V, eq, a == b, !(a != b) || __hisnan(a) || __hisnan(b))                                                        \
    GPUPROF_HALF_COMPARE(S, V, ne, a != b && !__hisnan(a) && !__hisnan(b), a != b)                                                         \
    GPUPROF_HALF_COMPARE(S, V, lt, a < b, !(a >= b))                                                                                       \
    GPUPROF_HALF_COMPARE(S, V, le, a <= b, !(a > b))                                                                                       \
    GPUPROF_HALF_COMPARE(S, V, gt, a > b, !(a <= b))                                                                                       \
    GPUPROF_HALF_COMPARE(S, V, ge, a >= b, !(a < b))

// __heq2 gives 1.0 or 0.0 in each half, __hbeq2 whether both hold; with a `u`, a NaN on either side makes it hold.
#define GPUPROF_HALF_COMPARE(S, V, NAME, ORDERED, UNORDERED)                                                                               \
    GPUPROF_BOTH bool gpuprof_ordered_##NAME(S a, S b) { return ORDERED; }                                                                 \
    GPUPROF_BOTH bool __h##NAME##u(S a, S b) { return UNORDERED; }                                                                         \
    GPUPROF_BOTH bool __hb##NAME##2(V a, V b) { return gpuprof_ordered_##NAME(a.x, b.x) && gpuprof_ordered_##NAME(a.y, b.y); }             \
    GPUPROF_BOTH bool __hb##NAME##u2(V a, V b) { return __h##NAME##u(a.x, b.x) && __h##NAME##u(a.y, b.y); }                                \
    GPUPROF_BOTH V __h##NAME##2(V a, V b)                                                                                                  \
    {                                                                                                                                      \
        return V(S(gpuprof_ordered_##NAME(a.x, b.x) ? 1.0f : 0.0f), S(gpuprof_ordered_##NAME(a.y, b.y) ? 1.0f : 0.0f));                    \
    }                                                                                                                                      \
    GPUPROF_BOTH V __h##NAME##u2(V a, V b)                                                                                                 \
    {                                                                                                                                      \
        return V(S(__h##NAME##u(a.x, b.x) ? 1.0f : 0.0f), S(__h##NAME##u(a.y, b.y) ? 1.0f : 0.0f));                                        \
    }

GPUPROF_HALF_MORE(__half, __half2)
GPUPROF_HALF_MORE(__nv_bfloat16, __nv_bfloat162)
#undef GPUPROF_HALF_MORE
#undef GPUPROF_HALF_COMPARE

// --- conversions: __half2int_rn and its kin; a mode has one name in C, one in PTX, and one more for results that are integers ---

#ifdef __CUDA_ARCH__
#define GPUPROF_FLOAT_HALF(C, MODE)                                                                                                        \
    GPUPROF_BOTH __half __float2half_##C(float v)                                                                                          \
    {                                                                                                                                      \
        unsigned short bits;                                                                                                               \
        asm("cvt." MODE ".f16.f32 %0, %1;" : "=h"(bits) : "f"(v));                                                                         \
        return __ushort_as_half(bits);                                                                                                     \
    }
#define GPUPROF_HALF_INTEGER(T, NAME, TYPE, LETTER, C, MODE)                                                                               \
    GPUPROF_BOTH T __half2##NAME##_##C(__half v)                                                                                           \
    {                                                                                                                                      \
        T result;                                                                                                                          \
        asm("cvt." MODE "i." TYPE ".f16 %0, %1;" : "=" LETTER(result) : "h"(__half_as_ushort(v)));                                         \
        return result;                                                                                                                     \
    }                                                                                                                                      \
    GPUPROF_BOTH __half __##NAME##2half_##C(T v)                                                                                           \
    {                                                                                                                                      \
        unsigned short bits;                                                                                                               \
        asm("cvt." MODE ".f16." TYPE " %0, %1;" : "=h"(bits) : LETTER(v));                                                                 \
        return __ushort_as_half(bits);                                                                                                     \
    }
#else
// What is nearest to a float lies on one side of it; `is_up` is the side that is wanted.
GPUPROF_BOTH __half gpuprof_half_beside(float v, bool is_up)
{
    const __half near(v);
    const float found = (float)near;
    if (found == v || found != found || (found > v) == is_up)
        return near;
    return __ushort_as_half((unsigned short)(__half_as_ushort(near) + (is_up == (v > 0) ? 1 : -1)));
}
#define GPUPROF_FLOAT_HALF(C, MODE)                                                                                                        \
    GPUPROF_BOTH __half __float2half_##C(float v) { return gpuprof_half_beside(v, gpuprof_is_up_##C(v)); }
GPUPROF_BOTH bool gpuprof_is_up_rz(float v) { return v < 0; }
GPUPROF_BOTH bool gpuprof_is_up_rd(float) { return false; }
GPUPROF_BOTH bool gpuprof_is_up_ru(float) { return true; }
// To nearest: what a float cannot hold of an integer goes into its lowest bit, so that the next rounding is right.
template <typename T> GPUPROF_BOTH float gpuprof_integer_rn(T v)
{
    const bool is_exact = gpuprof_integer_rd(v) == gpuprof_integer_ru(v);
    return __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, gpuprof_integer_rz(v)) | !is_exact);
}
#define GPUPROF_HALF_INTEGER(T, NAME, TYPE, LETTER, C, MODE)                                                                               \
    GPUPROF_BOTH T __half2##NAME##_##C(__half v) { return gpuprof_clamped<T>(gpuprof_rounded_##C((float)v)); }                             \
    GPUPROF_BOTH __half __##NAME##2half_##C(T v) { return __float2half_##C(gpuprof_integer_##C(v)); }
#endif
GPUPROF_FLOAT_HALF(rz, "rz")
GPUPROF_FLOAT_HALF(rd, "rm")
GPUPROF_FLOAT_HALF(ru, "rp")
#undef GPUPROF_FLOAT_HALF

#define GPUPROF_HALF_INTEGERS(T, NAME, TYPE, LETTER)                                                                                       \
    GPUPROF_HALF_INTEGER(T, NAME, TYPE, LETTER, rn, "rn")                                                                                  \
    GPUPROF_HALF_INTEGER(T, NAME, TYPE, LETTER, rz, "rz")                                                                                  \
    GPUPROF_HALF_INTEGER(T, NAME, TYPE, LETTER, rd, "rm")                                                                                  \
    GPUPROF_HALF_INTEGER(T, NAME, TYPE, LETTER, ru, "rp")
GPUPROF_HALF_INTEGERS(int, int, "s32", "r")
GPUPROF_HALF_INTEGERS(unsigned int, uint, "u32", "r")
GPUPROF_HALF_INTEGERS(short, short, "s16", "h")
GPUPROF_HALF_INTEGERS(unsigned short, ushort, "u16", "h")
GPUPROF_HALF_INTEGERS(long long, ll, "s64", "l")
GPUPROF_HALF_INTEGERS(unsigned long long, ull, "u64", "l")
#undef GPUPROF_HALF_INTEGER
#undef GPUPROF_HALF_INTEGERS

GPUPROF_BOTH __nv_bfloat16 __float2bfloat16_rz(float v)
{
#ifdef __CUDA_ARCH__
    unsigned short bits;
    asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(bits) : "f"(v));
    return __ushort_as_bfloat16(bits);
#else
    return __ushort_as_bfloat16(v != v ? 0x7fff : (unsigned short)(__builtin_bit_cast(unsigned int, v) >> 16));
#endif
}

// Towards zero, to the integers of 8 bits.
#define GPUPROF_HALF_BYTE(T, NAME)                                                                                                         \
    GPUPROF_BOTH T __half2##NAME##_rz(__half v) { return gpuprof_clamped<T>((float)v); }                                                   \
    GPUPROF_BOTH T __bfloat162##NAME##_rz(__nv_bfloat16 v) { return gpuprof_clamped<T>((float)v); }
GPUPROF_HALF_BYTE(signed char, char)
GPUPROF_HALF_BYTE(unsigned char, uchar)
#undef GPUPROF_HALF_BYTE

GPUPROF_BOTH __nv_bfloat16 __double2bfloat16(double v) { return __nv_bfloat16(v); }
GPUPROF_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
GPUPROF_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
GPUPROF_BOTH __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
GPUPROF_BOTH __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
GPUPROF_BOTH __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.x); }
GPUPROF_BOTH __nv_bfloat162 __float2bfloat162_rn(float v) { return __floats2bfloat162_rn(v, v); }
GPUPROF_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
GPUPROF_BOTH short __bfloat16_as_short(__nv_bfloat16 v) { return (short)__bfloat16_as_ushort(v); }
GPUPROF_BOTH __nv_bfloat16 __short_as_bfloat16(short v) { return __ushort_as_bfloat16((unsigned short)v); }
GPUPROF_BOTH __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
GPUPROF_BOTH __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
