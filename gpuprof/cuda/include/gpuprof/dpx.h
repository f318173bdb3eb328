// DPX functions for dynamic programming: additions with a minimum or maximum, and those of three, on words and pairs of half-words.
#pragma once

#include "integer.h"
#include "language.h"

#ifdef __CUDA_ARCH__
#define GPUPROF_PAIR(NAME, OPCODE, T, VALUE)                                                                                               \
    GPUPROF_BOTH unsigned int NAME(unsigned int a, unsigned int b)                                                                         \
    {                                                                                                                                      \
        unsigned int result;                                                                                                               \
        asm(OPCODE " %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));                                                                        \
        return result;                                                                                                                     \
    }
#else // `a` and `b` are a half-word of each
#define GPUPROF_PAIR(NAME, OPCODE, T, VALUE)                                                                                               \
    GPUPROF_BOTH unsigned short gpuprof_one_##NAME(T a, T b) { return (unsigned short)(VALUE); }                                           \
    GPUPROF_BOTH unsigned int NAME(unsigned int a, unsigned int b)                                                                         \
    {                                                                                                                                      \
        return (unsigned int)gpuprof_one_##NAME((T)(a >> 16), (T)(b >> 16)) << 16 | gpuprof_one_##NAME((T)a, (T)b);                        \
    }
#endif
GPUPROF_PAIR(gpuprof_add_x2, "add.u16x2", unsigned short, a + b)
GPUPROF_PAIR(gpuprof_max_s16x2, "max.s16x2", short, a > b ? a : b)
GPUPROF_PAIR(gpuprof_max_u16x2, "max.u16x2", unsigned short, a > b ? a : b)
GPUPROF_PAIR(gpuprof_min_s16x2, "min.s16x2", short, a < b ? a : b)
GPUPROF_PAIR(gpuprof_min_u16x2, "min.u16x2", unsigned short, a < b ? a : b)
GPUPROF_PAIR(__vimax_s16x2_relu, "max.relu.s16x2", short, max(max(a, b), 0))
GPUPROF_PAIR(__vimin_s16x2_relu, "min.relu.s16x2", short, max(min(a, b), 0))
#undef GPUPROF_PAIR
GPUPROF_BOTH int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
GPUPROF_BOTH int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }

// OP is max or min.
#define GPUPROF_DPX(OP)                                                                                                                    \
    GPUPROF_BOTH int __vi##OP##3_s32(int a, int b, int c) { return OP(OP(a, b), c); }                                                       \
    GPUPROF_BOTH unsigned int __vi##OP##3_u32(unsigned int a, unsigned int b, unsigned int c) { return OP(OP(a, b), c); }                   \
    GPUPROF_BOTH int __vi##OP##3_s32_relu(int a, int b, int c) { return __vi##OP##_s32_relu(OP(a, b), c); }                                 \
    GPUPROF_BOTH int __viadd##OP##_s32(int a, int b, int c) { return OP((int)((unsigned int)a + (unsigned int)b), c); }                     \
    GPUPROF_BOTH unsigned int __viadd##OP##_u32(unsigned int a, unsigned int b, unsigned int c) { return OP(a + b, c); }                    \
    GPUPROF_BOTH int __viadd##OP##_s32_relu(int a, int b, int c)                                                                            \
    {                                                                                                                                      \
        return __vi##OP##_s32_relu((int)((unsigned int)a + (unsigned int)b), c);                                                           \
    }                                                                                                                                      \
    GPUPROF_DPX_PAIRS(OP, s16x2)                                                                                                           \
    GPUPROF_DPX_PAIRS(OP, u16x2)                                                                                                           \
    GPUPROF_BOTH unsigned int __vi##OP##3_s16x2_relu(unsigned int a, unsigned int b, unsigned int c)                                        \
    {                                                                                                                                      \
        return __vi##OP##_s16x2_relu(gpuprof_##OP##_s16x2(a, b), c);                                                                       \
    }                                                                                                                                      \
    GPUPROF_BOTH unsigned int __viadd##OP##_s16x2_relu(unsigned int a, unsigned int b, unsigned int c)                                      \
    {                                                                                                                                      \
        return __vi##OP##_s16x2_relu(gpuprof_add_x2(a, b), c);                                                                             \
    }
#define GPUPROF_DPX_PAIRS(OP, T)                                                                                                           \
    GPUPROF_BOTH unsigned int __vi##OP##3_##T(unsigned int a, unsigned int b, unsigned int c)                                               \
    {                                                                                                                                      \
        return gpuprof_##OP##_##T(gpuprof_##OP##_##T(a, b), c);                                                                            \
    }                                                                                                                                      \
    GPUPROF_BOTH unsigned int __viadd##OP##_##T(unsigned int a, unsigned int b, unsigned int c)                                             \
    {                                                                                                                                      \
        return gpuprof_##OP##_##T(gpuprof_add_x2(a, b), c);                                                                                \
    }
GPUPROF_DPX(max)
GPUPROF_DPX(min)
#undef GPUPROF_DPX
#undef GPUPROF_DPX_PAIRS

// The predicate says that the first operand was taken.
GPUPROF_BOTH int __vibmax_s32(int a, int b, bool *first) { return (*first = a >= b) ? a : b; }
GPUPROF_BOTH unsigned int __vibmax_u32(unsigned int a, unsigned int b, bool *first) { return (*first = a >= b) ? a : b; }
GPUPROF_BOTH int __vibmin_s32(int a, int b, bool *first) { return (*first = a <= b) ? a : b; }
GPUPROF_BOTH unsigned int __vibmin_u32(unsigned int a, unsigned int b, bool *first) { return (*first = a <= b) ? a : b; }
#define GPUPROF_DPX_PICK(NAME, T, OPERATOR)                                                                                                \
    GPUPROF_BOTH unsigned int NAME(unsigned int a, unsigned int b, bool *first_high, bool *first_low)                                       \
    {                                                                                                                                      \
        *first_high = (T)(a >> 16) OPERATOR (T)(b >> 16);                                                                                  \
        *first_low = (T)a OPERATOR (T)b;                                                                                                   \
        return ((*first_high ? a : b) & 0xffff0000u) | ((*first_low ? a : b) & 0xffffu);                                                   \
    }
GPUPROF_DPX_PICK(__vibmax_s16x2, short, >=)
GPUPROF_DPX_PICK(__vibmax_u16x2, unsigned short, >=)
GPUPROF_DPX_PICK(__vibmin_s16x2, short, <=)
GPUPROF_DPX_PICK(__vibmin_u16x2, unsigned short, <=)
#undef GPUPROF_DPX_PICK
