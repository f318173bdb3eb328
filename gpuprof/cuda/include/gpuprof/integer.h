// Integer intrinsics.
#pragma once

#include "language.h"

GPUPROF_API int __popc(unsigned int x) { return __builtin_popcount(x); }
GPUPROF_API int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
GPUPROF_API int __clz(int x) { return __builtin_clzg((unsigned int)x, 32); }
GPUPROF_API int __clzll(long long x) { return __builtin_clzg((unsigned long long)x, 64); }
// The lane of the offset-th set bit from `base` on, upwards or (offset below 0) downwards; all ones when there is none.
GPUPROF_API unsigned int __fns(unsigned int mask, unsigned int base, int offset)
{
    unsigned int lane;
    asm("fns.b32 %0, %1, %2, %3;" : "=r"(lane) : "r"(mask), "r"(base), "r"(offset));
    return lane;
}
GPUPROF_API int __ffs(int x) { return __builtin_ffs(x); }
GPUPROF_API int __ffsll(long long x) { return __builtin_ffsll(x); }
GPUPROF_API unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
GPUPROF_API unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
GPUPROF_BOTH unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
GPUPROF_BOTH unsigned int __nv_bswap32(unsigned int x) { return __builtin_bswap32(x); }
GPUPROF_BOTH unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }
GPUPROF_API unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int selector) { return __nvvm_prmt(a, b, selector); }

GPUPROF_API unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int n)
{
    return __builtin_elementwise_fshl(high, low, n);
}
GPUPROF_API unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int n)
{
    return __builtin_elementwise_fshr(high, low, n);
}
GPUPROF_API unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int n)
{
    unsigned int result;
    asm("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(n));
    return result;
}
GPUPROF_API unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int n)
{
    unsigned int result;
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(n));
    return result;
}

GPUPROF_API int __mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
GPUPROF_API unsigned int __umulhi(unsigned int a, unsigned int b) { return __nvvm_mulhi_ui(a, b); }
GPUPROF_API long long __mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
GPUPROF_API unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return __nvvm_mulhi_ull(a, b); }
GPUPROF_API int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
GPUPROF_API unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffffu) * (b & 0xffffffu); }
GPUPROF_API unsigned int __sad(int a, int b, unsigned int c) { return __nvvm_sad_i(a, b, c); }
GPUPROF_API unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return __nvvm_sad_ui(a, b, c); }
GPUPROF_API int __hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
GPUPROF_API int __rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
GPUPROF_API unsigned int __uhadd(unsigned int a, unsigned int b) { return (a & b) + ((a ^ b) >> 1); }
GPUPROF_API unsigned int __urhadd(unsigned int a, unsigned int b) { return (a | b) - ((a ^ b) >> 1); }

#define GPUPROF_DOT(NAME, OPCODE, T)                                                                                                       \
    GPUPROF_API T NAME(T a, T b, T c)                                                                                                      \
    {                                                                                                                                      \
        T result;                                                                                                                          \
        asm(OPCODE " %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));                                                            \
        return result;                                                                                                                     \
    }
GPUPROF_DOT(__dp4a, "dp4a.s32.s32", int)
GPUPROF_DOT(__dp4a, "dp4a.u32.u32", unsigned int)
GPUPROF_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int)
GPUPROF_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int)
GPUPROF_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int)
GPUPROF_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int)
#undef GPUPROF_DOT

// The same on vectors of bytes and halves.
#define GPUPROF_DOT_VECTOR(NAME, A, B, T)                                                                                                  \
    GPUPROF_API T NAME(A a, B b, T c) { return NAME(__builtin_bit_cast(T, a), __builtin_bit_cast(T, b), c); }
GPUPROF_DOT_VECTOR(__dp4a, char4, char4, int)
GPUPROF_DOT_VECTOR(__dp4a, uchar4, uchar4, unsigned int)
GPUPROF_DOT_VECTOR(__dp2a_lo, short2, char4, int)
GPUPROF_DOT_VECTOR(__dp2a_lo, ushort2, uchar4, unsigned int)
GPUPROF_DOT_VECTOR(__dp2a_hi, short2, char4, int)
GPUPROF_DOT_VECTOR(__dp2a_hi, ushort2, uchar4, unsigned int)
#undef GPUPROF_DOT_VECTOR

// --- min, max, abs: CUDA has them for all number types, without a header ---

#define GPUPROF_MIN_MAX(T)                                                                                                                 \
    GPUPROF_BOTH T min(T a, T b) { return b < a ? b : a; }                                                                                  \
    GPUPROF_BOTH T max(T a, T b) { return a < b ? b : a; }
GPUPROF_MIN_MAX(int)
GPUPROF_MIN_MAX(unsigned int)
GPUPROF_MIN_MAX(long)
GPUPROF_MIN_MAX(unsigned long)
GPUPROF_MIN_MAX(long long)
GPUPROF_MIN_MAX(unsigned long long)
#undef GPUPROF_MIN_MAX

#define GPUPROF_MIXED_MIN_MAX(A, B, T)                                                                                                     \
    GPUPROF_BOTH T min(A a, B b) { return min((T)a, (T)b); }                                                                                \
    GPUPROF_BOTH T max(A a, B b) { return max((T)a, (T)b); }
GPUPROF_MIXED_MIN_MAX(int, unsigned int, unsigned int)
GPUPROF_MIXED_MIN_MAX(unsigned int, int, unsigned int)
GPUPROF_MIXED_MIN_MAX(long, unsigned long, unsigned long)
GPUPROF_MIXED_MIN_MAX(unsigned long, long, unsigned long)
GPUPROF_MIXED_MIN_MAX(long long, unsigned long long, unsigned long long)
GPUPROF_MIXED_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef GPUPROF_MIXED_MIN_MAX

GPUPROF_API int abs(int x) { return __builtin_abs(x); }
GPUPROF_API long abs(long x) { return __builtin_labs(x); }
GPUPROF_API long long abs(long long x) { return __builtin_llabs(x); }
GPUPROF_API long labs(long x) { return __builtin_labs(x); }
GPUPROF_API long long llabs(long long x) { return __builtin_llabs(x); }
GPUPROF_BOTH unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
GPUPROF_BOTH unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
GPUPROF_BOTH long long llmin(long long a, long long b) { return min(a, b); }
GPUPROF_BOTH long long llmax(long long a, long long b) { return max(a, b); }
GPUPROF_BOTH unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
GPUPROF_BOTH unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
