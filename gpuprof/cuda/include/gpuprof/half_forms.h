// 16-bit floating point, what comes with the name of its header: minimum and maximum that keep NaN, clamped pairs, comparisons as masks.
#pragma once

#include "half_intrinsics.h"

#define GPUPROF_HALF_2(NAME, T, RAW, REG, OPCODE)                                                                                          \
    GPUPROF_API T NAME(T a, T b)                                                                                                           \
    {                                                                                                                                      \
        RAW result;                                                                                                                        \
        asm(OPCODE " %0, %1, %2;" : "=" REG(result) : REG(__builtin_bit_cast(RAW, a)), REG(__builtin_bit_cast(RAW, b)));                   \
        return __builtin_bit_cast(T, result);                                                                                              \
    }
#define GPUPROF_HALF_MASK(V, NAME)                                                                                                         \
    GPUPROF_API unsigned int __h##NAME##2_mask(V a, V b)                                                                                   \
    {                                                                                                                                      \
        V held = __h##NAME##2(a, b);                                                                                                       \
        return ((float)held.x ? 0xffffu : 0u) | ((float)held.y ? 0xffff0000u : 0u);                                                        \
    }
#define GPUPROF_HALF_FORMS(S, V, TYPE)                                                                                                     \
    GPUPROF_HALF_2(__hmin_nan, S, unsigned short, "h", "min.NaN." TYPE)                                                                    \
    GPUPROF_HALF_2(__hmax_nan, S, unsigned short, "h", "max.NaN." TYPE)                                                                    \
    GPUPROF_HALF_2(__hmin2_nan, V, unsigned int, "r", "min.NaN." TYPE "x2")                                                                \
    GPUPROF_HALF_2(__hmax2_nan, V, unsigned int, "r", "max.NaN." TYPE "x2")                                                                \
    GPUPROF_API V __hfma2_relu(V a, V b, V c) { return V(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)); }                        \
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
#undef GPUPROF_HALF_MASK
#undef GPUPROF_HALF_2
