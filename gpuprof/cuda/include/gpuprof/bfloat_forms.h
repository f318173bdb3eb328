// bfloat16 from and to integers, and the roundings that are not to nearest.
#pragma once

#include "half_intrinsics.h"
#include "rounding.h"

GPUPROF_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
GPUPROF_BOTH __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.x, v.x); }
GPUPROF_BOTH __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.y); }

// The upper half of a float's bits is the value that is cut off towards zero; the next one is further away from it.
GPUPROF_BOTH __nv_bfloat16 gpuprof_bfloat_cut(float v, bool is_away)
{
    const unsigned int bits = __builtin_bit_cast(unsigned int, v);
    const bool is_exact = !(bits & 0xffff), is_finite = (bits & 0x7f800000) != 0x7f800000;
    return v != v ? __ushort_as_bfloat16(0x7fff) : __ushort_as_bfloat16((unsigned short)((bits >> 16) + (is_away && !is_exact && is_finite)));
}
GPUPROF_BOTH __nv_bfloat16 __float2bfloat16_rd(float v) { return gpuprof_bfloat_cut(v, __builtin_signbit(v)); }
GPUPROF_BOTH __nv_bfloat16 __float2bfloat16_ru(float v) { return gpuprof_bfloat_cut(v, !__builtin_signbit(v)); }

#ifdef __CUDA_ARCH__
#define GPUPROF_FROM_BFLOAT(T, NAME, TYPE, LETTER, C, MODE)                                                                                \
    GPUPROF_BOTH T __bfloat162##NAME##_##C(__nv_bfloat16 v)                                                                                \
    {                                                                                                                                      \
        T result;                                                                                                                          \
        asm("cvt." MODE "i." TYPE ".f32 %0, %1;" : "=" LETTER(result) : "f"((float)v));                                                    \
        return result;                                                                                                                     \
    }
#define GPUPROF_INTEGER_FLOAT(T, TYPE, LETTER, C, MODE)                                                                                    \
    GPUPROF_BOTH float gpuprof_float_##C(T v)                                                                                              \
    {                                                                                                                                      \
        float result;                                                                                                                      \
        asm("cvt." MODE ".f32." TYPE " %0, %1;" : "=f"(result) : LETTER(v));                                                               \
        return result;                                                                                                                     \
    }
#else
#define GPUPROF_FROM_BFLOAT(T, NAME, TYPE, LETTER, C, MODE)                                                                                \
    GPUPROF_BOTH T __bfloat162##NAME##_##C(__nv_bfloat16 v) { return gpuprof_clamped<T>(gpuprof_rounded_##C((float)v)); }
#define GPUPROF_INTEGER_FLOAT(T, TYPE, LETTER, C, MODE)                                                                                    \
    GPUPROF_BOTH float gpuprof_float_##C(T v) { return gpuprof_integer_##C(v); }
#endif

// To nearest: what the float cannot hold of the integer goes into its lowest bit, so that the next rounding is right.
#define GPUPROF_BFLOAT_INTEGERS(T, NAME, TYPE, LETTER)                                                                                     \
    GPUPROF_FROM_BFLOAT(T, NAME, TYPE, LETTER, rn, "rn")                                                                                   \
    GPUPROF_FROM_BFLOAT(T, NAME, TYPE, LETTER, rz, "rz")                                                                                   \
    GPUPROF_FROM_BFLOAT(T, NAME, TYPE, LETTER, rd, "rm")                                                                                   \
    GPUPROF_FROM_BFLOAT(T, NAME, TYPE, LETTER, ru, "rp")                                                                                   \
    GPUPROF_INTEGER_FLOAT(T, TYPE, LETTER, rz, "rz")                                                                                       \
    GPUPROF_INTEGER_FLOAT(T, TYPE, LETTER, rd, "rm")                                                                                       \
    GPUPROF_INTEGER_FLOAT(T, TYPE, LETTER, ru, "rp")                                                                                       \
    GPUPROF_BOTH __nv_bfloat16 __##NAME##2bfloat16_rn(T v)                                                                                 \
    {                                                                                                                                      \
        const float near = gpuprof_float_rz(v);                                                                                            \
        const bool is_exact = gpuprof_float_rd(v) == gpuprof_float_ru(v);                                                                  \
        return __nv_bfloat16(__builtin_bit_cast(float, __builtin_bit_cast(unsigned int, near) | !is_exact));                               \
    }                                                                                                                                      \
    GPUPROF_BOTH __nv_bfloat16 __##NAME##2bfloat16_rz(T v) { return gpuprof_bfloat_cut(gpuprof_float_rz(v), false); }                      \
    GPUPROF_BOTH __nv_bfloat16 __##NAME##2bfloat16_rd(T v) { return __float2bfloat16_rd(gpuprof_float_rd(v)); }                            \
    GPUPROF_BOTH __nv_bfloat16 __##NAME##2bfloat16_ru(T v) { return __float2bfloat16_ru(gpuprof_float_ru(v)); }
GPUPROF_BFLOAT_INTEGERS(int, int, "s32", "r")
GPUPROF_BFLOAT_INTEGERS(unsigned int, uint, "u32", "r")
GPUPROF_BFLOAT_INTEGERS(short, short, "s16", "h")
GPUPROF_BFLOAT_INTEGERS(unsigned short, ushort, "u16", "h")
GPUPROF_BFLOAT_INTEGERS(long long, ll, "s64", "l")
GPUPROF_BFLOAT_INTEGERS(unsigned long long, ull, "u64", "l")
#undef GPUPROF_BFLOAT_INTEGERS
#undef GPUPROF_FROM_BFLOAT
#undef GPUPROF_INTEGER_FLOAT
