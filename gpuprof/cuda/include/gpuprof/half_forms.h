// 16-bit floating point, what comes with the name of its header: minimum and maximum that keep NaN, clamped pairs, comparisons as masks.
#pragma once

#include "half_intrinsics.h"

#ifdef __CUDA_ARCH__
#define GPUPROF_HALF_2(NAME, T, RAW, REG, OPCODE)                                                                                          \
    GPUPROF_BOTH T NAME(T a, T b)                                                                                                          \
    {                                                                                                                                      \
        RAW result;                                                                                                                        \
        asm(OPCODE " %0, %1, %2;" : "=" REG(result) : REG(__builtin_bit_cast(RAW, a)), REG(__builtin_bit_cast(RAW, b)));                   \
        return __builtin_bit_cast(T, result);                                                                                              \
    }
#define GPUPROF_HALF_NAN(S, V, TYPE)                                                                                                       \
    GPUPROF_HALF_2(__hmin_nan, S, unsigned short, "h", "min.NaN." TYPE)                                                                    \
    GPUPROF_HALF_2(__hmax_nan, S, unsigned short, "h", "max.NaN." TYPE)                                                                    \
    GPUPROF_HALF_2(__hmin2_nan, V, unsigned int, "r", "min.NaN." TYPE "x2")                                                                \
    GPUPROF_HALF_2(__hmax2_nan, V, unsigned int, "r", "max.NaN." TYPE "x2")
#else // of equal ones, +0 is the larger
#define GPUPROF_HALF_NAN(S, V, TYPE)                                                                                                       \
    GPUPROF_BOTH S gpuprof_picked(S a, S b, bool is_a) { return a != a || b != b ? __builtin_bit_cast(S, (unsigned short)0x7fff) : is_a ? a : b; } \
    GPUPROF_BOTH S __hmin_nan(S a, S b) { return gpuprof_picked(a, b, a < b || (a == b && __builtin_signbit((float)a))); }                 \
    GPUPROF_BOTH S __hmax_nan(S a, S b) { return gpuprof_picked(a, b, a > b || (a == b && !__builtin_signbit((float)a))); }                \
    GPUPROF_BOTH V __hmin2_nan(V a, V b) { return V(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)); }                                         \
    GPUPROF_BOTH V __hmax2_nan(V a, V b) { return V(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)); }
#endif
#define GPUPROF_HALF_MASK(V, NAME)                                                                                                         \
    GPUPROF_BOTH unsigned int __h##NAME##2_mask(V a, V b)                                                                                   \
    {                                                                                                                                      \
        V held = __h##NAME##2(a, b);                                                                                                       \
        return ((float)held.x ? 0xffffu : 0u) | ((float)held.y ? 0xffff0000u : 0u);                                                        \
    }
#define GPUPROF_HALF_FORMS(S, V, TYPE)                                                                                                     \
    GPUPROF_HALF_NAN(S, V, TYPE)                                                                                                           \
    GPUPROF_BOTH V __hcmadd(V a, V b, V c) /* complex a * b + c, in the order of the GPU */                                                \
    {                                                                                                                                      \
        return V(__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));                                       \
    }                                                                                                                                      \
    GPUPROF_BOTH V __hfma2_relu(V a, V b, V c) { return V(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)); }                        \
    GPUPROF_HALF_MASK(V, eq)                                                                                                               \
    GPUPROF_HALF_MASK(V, ne)                                                                                                               \
    GPUPROF_HALF_MASK(V, lt)                                                                                                               \
    GPUPROF_HALF_MASK(V, le)                                                                                                               \
    GPUPROF_HALF_MASK(V, gt)                                                                                                               \
    GPUPROF_HALF_MASK(V, ge)                                                                                                               \
    GPUPROF_HALF_MASK(V, equ)                                                                                                              \
    GPUPROF_HALF_MASK(V, neu)                                                                                                              \
    GPUPROF_HALF_MASK(V, ltu)                                                                                                              \
    GPUPROF_HALF_MASK(V, leu)                                                                                                              \
    GPUPROF_HALF_MASK(V, gtu)                                                                                                              \
    GPUPROF_HALF_MASK(V, geu)
GPUPROF_HALF_FORMS(__half, __half2, "f16")
GPUPROF_HALF_FORMS(__nv_bfloat16, __nv_bfloat162, "bf16")
#undef GPUPROF_HALF_FORMS
#undef GPUPROF_HALF_NAN
#undef GPUPROF_HALF_MASK
#undef GPUPROF_HALF_2

#ifdef __CUDA__ // in one instruction; bfloat16 from sm_90 on
#define GPUPROF_TANH(NAME, T, RAW, REG, TYPE)                                                                                              \
    GPUPROF_API T NAME(T v)                                                                                                                \
    {                                                                                                                                      \
        RAW result;                                                                                                                        \
        asm("tanh.approx." TYPE " %0, %1;" : "=" REG(result) : REG(__builtin_bit_cast(RAW, v)));                                           \
        return __builtin_bit_cast(T, result);                                                                                              \
    }
GPUPROF_TANH(htanh_approx, __half, unsigned short, "h", "f16")
GPUPROF_TANH(h2tanh_approx, __half2, unsigned int, "r", "f16x2")
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
GPUPROF_TANH(htanh_approx, __nv_bfloat16, unsigned short, "h", "bf16")
GPUPROF_TANH(h2tanh_approx, __nv_bfloat162, unsigned int, "r", "bf16x2")
#else
GPUPROF_API __nv_bfloat16 htanh_approx(__nv_bfloat16 v) { return __nv_bfloat16(__tanhf((float)v)); }
GPUPROF_API __nv_bfloat162 h2tanh_approx(__nv_bfloat162 v) { return __nv_bfloat162(htanh_approx(v.x), htanh_approx(v.y)); }
#endif
#undef GPUPROF_TANH
#endif
