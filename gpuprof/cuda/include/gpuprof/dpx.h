// DPX functions for dynamic programming: additions with a minimum or maximum, and those of three, on words and pairs of half-words.
#pragma once

#include "integer.h"
#include "language.h"

#define GPUPROF_PAIR(NAME, OPCODE)                                                                                                         \
    GPUPROF_API unsigned int NAME(unsigned int a, unsigned int b)                                                                          \
    {                                                                                                                                      \
        unsigned int result;                                                                                                               \
        asm(OPCODE " %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));                                                                        \
        return result;                                                                                                                     \
    }
GPUPROF_PAIR(gpuprof_add_x2, "add.u16x2")
GPUPROF_PAIR(gpuprof_max_s16x2, "max.s16x2")
GPUPROF_PAIR(gpuprof_max_u16x2, "max.u16x2")
GPUPROF_PAIR(gpuprof_min_s16x2, "min.s16x2")
GPUPROF_PAIR(gpuprof_min_u16x2, "min.u16x2")
GPUPROF_PAIR(__vimax_s16x2_relu, "max.relu.s16x2")
GPUPROF_PAIR(__vimin_s16x2_relu, "min.relu.s16x2")
#undef GPUPROF_PAIR
GPUPROF_API int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
GPUPROF_API int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }

// OP is max or min.
#define GPUPROF_DPX(OP)                                                                                                                    \
    GPUPROF_API int __vi##OP##3_s32(int a, int b, int c) { return OP(OP(a, b), c); }                                                       \
    GPUPROF_API unsigned int __vi##OP##3_u32(unsigned int a, unsigned int b, unsigned int c) { return OP(OP(a, b), c); }                   \
    GPUPROF_API int __vi##OP##3_s32_relu(int a, int b, int c) { return __vi##OP##_s32_relu(OP(a, b), c); }                                 \
    GPUPROF_API int __viadd##OP##_s32(int a, int b, int c) { return OP((int)((unsigned int)a + (unsigned int)b), c); }                     \
    GPUPROF_API unsigned int __viadd##OP##_u32(unsigned int a, unsigned int b, unsigned int c) { return OP(a + b, c); }                    \
    GPUPROF_API int __viadd##OP##_s32_relu(int a, int b, int c)                                                                            \
    {                                                                                                                                      \
        return __vi##OP##_s32_relu((int)((unsigned int)a + (unsigned int)b), c);                                                           \
    }                                                                                                                                      \
    GPUPROF_DPX_PAIRS(OP, s16x2)                                                                                                           \
    GPUPROF_DPX_PAIRS(OP, u16x2)                                                                                                           \
    GPUPROF_API unsigned int __vi##OP##3_s16x2_relu(unsigned int a, unsigned int b, unsigned int c)                                        \
    {                                                                                                                                      \
        return __vi##OP##_s16x2_relu(gpuprof_##OP##_s16x2(a, b), c);                                                                       \
    }                                                                                                                                      \
    GPUPROF_API unsigned int __viadd##OP##_s16x2_relu(unsigned int a, unsigned int b, unsigned int c)                                      \
    {                                                                                                                                      \
        return __vi##OP##_s16x2_relu(gpuprof_add_x2(a, b), c);                                                                             \
    }
#define GPUPROF_DPX_PAIRS(OP, T)                                                                                                           \
    GPUPROF_API unsigned int __vi##OP##3_##T(unsigned int a, unsigned int b, unsigned int c)                                               \
    {                                                                                                                                      \
        return gpuprof_##OP##_##T(gpuprof_##OP##_##T(a, b), c);                                                                            \
    }                                                                                                                                      \
    GPUPROF_API unsigned int __viadd##OP##_##T(unsigned int a, unsigned int b, unsigned int c)                                             \
    {                                                                                                                                      \
        return gpuprof_##OP##_##T(gpuprof_add_x2(a, b), c);                                                                                \
    }
GPUPROF_DPX(max)
GPUPROF_DPX(min)
#undef GPUPROF_DPX
#undef GPUPROF_DPX_PAIRS

// The predicate says that the first operand was taken.
GPUPROF_API int __vibmax_s32(int a, int b, bool *first) { return (*first = a >= b) ? a : b; }
GPUPROF_API unsigned int __vibmax_u32(unsigned int a, unsigned int b, bool *first) { return (*first = a >= b) ? a : b; }
GPUPROF_API int __vibmin_s32(int a, int b, bool *first) { return (*first = a <= b) ? a : b; }
GPUPROF_API unsigned int __vibmin_u32(unsigned int a, unsigned int b, bool *first) { return (*first = a <= b) ? a : b; }
