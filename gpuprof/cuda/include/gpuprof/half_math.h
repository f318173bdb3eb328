// Functions on 16-bit floating point that go through float, warp shuffles, atomic additions, read-only loads.
#pragma once

#include "atomics.h"
#include "functions.h"
#include "half.h"
#include "memory.h"
#include "sync.h"

#define GPUPROF_HALF_FUNCTION(NAME, FUNCTION)                                                                                              \
    GPUPROF_API __half h##NAME(__half x) { return __half(FUNCTION((float)x)); }                                                            \
    GPUPROF_API __half2 h2##NAME(__half2 x) { return __half2(h##NAME(x.x), h##NAME(x.y)); }                                                \
    GPUPROF_API __nv_bfloat16 h##NAME(__nv_bfloat16 x) { return __nv_bfloat16(FUNCTION((float)x)); }                                       \
    GPUPROF_API __nv_bfloat162 h2##NAME(__nv_bfloat162 x) { return __nv_bfloat162(h##NAME(x.x), h##NAME(x.y)); }
GPUPROF_HALF_FUNCTION(sqrt, sqrtf)
GPUPROF_HALF_FUNCTION(rsqrt, rsqrtf)
GPUPROF_HALF_FUNCTION(rcp, 1.0f /)
GPUPROF_HALF_FUNCTION(exp, __expf)
GPUPROF_HALF_FUNCTION(exp2, exp2f)
GPUPROF_HALF_FUNCTION(log, __logf)
GPUPROF_HALF_FUNCTION(log2, __log2f)
GPUPROF_HALF_FUNCTION(sin, sinf)
GPUPROF_HALF_FUNCTION(cos, cosf)
GPUPROF_HALF_FUNCTION(floor, floorf)
GPUPROF_HALF_FUNCTION(ceil, ceilf)
GPUPROF_HALF_FUNCTION(rint, rintf)
GPUPROF_HALF_FUNCTION(trunc, truncf)
GPUPROF_HALF_FUNCTION(exp10, exp10f)
GPUPROF_HALF_FUNCTION(log10, log10f)
GPUPROF_HALF_FUNCTION(tanh, tanhf)
#undef GPUPROF_HALF_FUNCTION

// As the bits of an unsigned integer of 4 bytes.
#define GPUPROF_HALF_SHUFFLE(T, RAW, NAME, LANE)                                                                                           \
    GPUPROF_SYNC T NAME(unsigned int mask, T v, LANE lane, int width = gpuprof_warp_size)                                                           \
    {                                                                                                                                      \
        return __builtin_bit_cast(T, (RAW)NAME(mask, (unsigned int)__builtin_bit_cast(RAW, v), lane, width));                              \
    }
#define GPUPROF_HALF_SHUFFLES(T, RAW)                                                                                                      \
    GPUPROF_HALF_SHUFFLE(T, RAW, __shfl_sync, int)                                                                                         \
    GPUPROF_HALF_SHUFFLE(T, RAW, __shfl_up_sync, unsigned int)                                                                             \
    GPUPROF_HALF_SHUFFLE(T, RAW, __shfl_down_sync, unsigned int)                                                                           \
    GPUPROF_HALF_SHUFFLE(T, RAW, __shfl_xor_sync, int)
GPUPROF_HALF_SHUFFLES(__half, unsigned short)
GPUPROF_HALF_SHUFFLES(__half2, unsigned int)
GPUPROF_HALF_SHUFFLES(__nv_bfloat16, unsigned short)
GPUPROF_HALF_SHUFFLES(__nv_bfloat162, unsigned int)
#undef GPUPROF_HALF_SHUFFLES
#undef GPUPROF_HALF_SHUFFLE

GPUPROF_API __half2 atomicAdd(__half2 *p, __half2 v)
{
    unsigned int old;
    asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(__builtin_bit_cast(unsigned int, v)) : "memory");
    return __builtin_bit_cast(__half2, old);
}
GPUPROF_API __half atomicAdd(__half *p, __half v)
{
    unsigned short old;
    asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old) : "l"(p), "h"(__builtin_bit_cast(unsigned short, v)) : "memory");
    return __builtin_bit_cast(__half, old);
}

// bfloat16 is added by hardware from sm_90 on, before by compare and swap of the word or half word.
#define GPUPROF_BFLOAT_ATOMIC(T, WORD, PTX, C)                                                                                             \
    GPUPROF_API T atomicAdd(T *p, T v)                                                                                                     \
    {                                                                                                                                      \
        GPUPROF_BFLOAT_ADD(T, WORD, PTX, C)                                                                                                \
    }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define GPUPROF_BFLOAT_ADD(T, WORD, PTX, C)                                                                                                \
    WORD old;                                                                                                                              \
    asm volatile("atom.add.noftz." PTX " %0, [%1], %2;" : "=" C(old) : "l"(p), C(__builtin_bit_cast(WORD, v)) : "memory");                 \
    return __builtin_bit_cast(T, old);
#else
#define GPUPROF_BFLOAT_ADD(T, WORD, PTX, C)                                                                                                \
    WORD old = *(volatile WORD *)p;                                                                                                        \
    for (;;) {                                                                                                                             \
        WORD seen = atomicCAS((WORD *)p, old, __builtin_bit_cast(WORD, __builtin_bit_cast(T, old) + v));                                   \
        if (seen == old)                                                                                                                   \
            return __builtin_bit_cast(T, old);                                                                                             \
        old = seen;                                                                                                                        \
    }
#endif
GPUPROF_BFLOAT_ATOMIC(__nv_bfloat16, unsigned short, "bf16", "h")
GPUPROF_BFLOAT_ATOMIC(__nv_bfloat162, unsigned int, "bf16x2", "r")
#undef GPUPROF_BFLOAT_ATOMIC
#undef GPUPROF_BFLOAT_ADD

// As the bits they are.
#define GPUPROF_HALF_LOAD(NAME, T, WORD)                                                                                                   \
    GPUPROF_API T NAME(const T *p) { return __builtin_bit_cast(T, NAME((const WORD *)p)); }
#define GPUPROF_HALF_STORE(NAME, T, WORD)                                                                                                  \
    GPUPROF_API void NAME(T *p, T v) { NAME((WORD *)p, __builtin_bit_cast(WORD, v)); }
#define GPUPROF_HALF_ACCESSES(T, WORD)                                                                                                     \
    GPUPROF_HALF_LOAD(__ldg, T, WORD)                                                                                                      \
    GPUPROF_HALF_LOAD(__ldca, T, WORD)                                                                                                     \
    GPUPROF_HALF_LOAD(__ldcg, T, WORD)                                                                                                     \
    GPUPROF_HALF_LOAD(__ldcs, T, WORD)                                                                                                     \
    GPUPROF_HALF_LOAD(__ldlu, T, WORD)                                                                                                     \
    GPUPROF_HALF_LOAD(__ldcv, T, WORD)                                                                                                     \
    GPUPROF_HALF_STORE(__stwb, T, WORD)                                                                                                    \
    GPUPROF_HALF_STORE(__stcg, T, WORD)                                                                                                    \
    GPUPROF_HALF_STORE(__stcs, T, WORD)                                                                                                    \
    GPUPROF_HALF_STORE(__stwt, T, WORD)
GPUPROF_HALF_ACCESSES(__half, unsigned short)
GPUPROF_HALF_ACCESSES(__half2, unsigned int)
GPUPROF_HALF_ACCESSES(__nv_bfloat16, unsigned short)
GPUPROF_HALF_ACCESSES(__nv_bfloat162, unsigned int)
#undef GPUPROF_HALF_ACCESSES
#undef GPUPROF_HALF_LOAD
#undef GPUPROF_HALF_STORE
