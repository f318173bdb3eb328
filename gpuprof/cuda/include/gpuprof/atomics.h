// Atomics in the types CUDA has, with block, device and system scope. All are relaxed, as CUDA's are.
#pragma once

#include "language.h"

#define GPUPROF_ATOMIC(NAME, BUILTIN, T)                                                                                                   \
    GPUPROF_API T NAME(T *p, T v) { return BUILTIN(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }                                       \
    GPUPROF_API T NAME##_block(T *p, T v) { return BUILTIN(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP); }                               \
    GPUPROF_API T NAME##_system(T *p, T v) { return BUILTIN(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM); }

#define GPUPROF_ATOMIC_INTEGER(NAME, BUILTIN)                                                                                              \
    GPUPROF_ATOMIC(NAME, BUILTIN, int)                                                                                                     \
    GPUPROF_ATOMIC(NAME, BUILTIN, unsigned int)                                                                                            \
    GPUPROF_ATOMIC(NAME, BUILTIN, unsigned long long)

GPUPROF_ATOMIC_INTEGER(atomicAdd, __scoped_atomic_fetch_add)
GPUPROF_ATOMIC_INTEGER(atomicAnd, __scoped_atomic_fetch_and)
GPUPROF_ATOMIC_INTEGER(atomicOr, __scoped_atomic_fetch_or)
GPUPROF_ATOMIC_INTEGER(atomicXor, __scoped_atomic_fetch_xor)
GPUPROF_ATOMIC_INTEGER(atomicMin, __scoped_atomic_fetch_min)
GPUPROF_ATOMIC_INTEGER(atomicMax, __scoped_atomic_fetch_max)
GPUPROF_ATOMIC_INTEGER(atomicExch, __scoped_atomic_exchange_n)
GPUPROF_ATOMIC(atomicAnd, __scoped_atomic_fetch_and, long long)
GPUPROF_ATOMIC(atomicOr, __scoped_atomic_fetch_or, long long)
GPUPROF_ATOMIC(atomicXor, __scoped_atomic_fetch_xor, long long)
GPUPROF_ATOMIC(atomicMin, __scoped_atomic_fetch_min, long long)
GPUPROF_ATOMIC(atomicMax, __scoped_atomic_fetch_max, long long)
GPUPROF_ATOMIC(atomicAdd, __scoped_atomic_fetch_add, float)
GPUPROF_ATOMIC(atomicAdd, __scoped_atomic_fetch_add, double)
GPUPROF_ATOMIC(atomicSub, __scoped_atomic_fetch_sub, int)
GPUPROF_ATOMIC(atomicSub, __scoped_atomic_fetch_sub, unsigned int)
GPUPROF_ATOMIC(atomicInc, __scoped_atomic_fetch_uinc, unsigned int)
GPUPROF_ATOMIC(atomicDec, __scoped_atomic_fetch_udec, unsigned int)
#undef GPUPROF_ATOMIC_INTEGER
#undef GPUPROF_ATOMIC

#define GPUPROF_EXCHANGE(SUFFIX, SCOPE)                                                                                                    \
    GPUPROF_API float atomicExch##SUFFIX(float *p, float v)                                                                                \
    {                                                                                                                                      \
        return __builtin_bit_cast(float, __scoped_atomic_exchange_n((int *)p, __builtin_bit_cast(int, v), __ATOMIC_RELAXED, SCOPE));       \
    }

#define GPUPROF_COMPARE_AND_SWAP(SUFFIX, SCOPE, T)                                                                                         \
    GPUPROF_API T atomicCAS##SUFFIX(T *p, T expected, T desired)                                                                           \
    {                                                                                                                                      \
        __scoped_atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, SCOPE);                       \
        return expected;                                                                                                                   \
    }

#define GPUPROF_EACH_SCOPE(SUFFIX, SCOPE)                                                                                                  \
    GPUPROF_EXCHANGE(SUFFIX, SCOPE)                                                                                                        \
    GPUPROF_COMPARE_AND_SWAP(SUFFIX, SCOPE, int)                                                                                           \
    GPUPROF_COMPARE_AND_SWAP(SUFFIX, SCOPE, unsigned int)                                                                                  \
    GPUPROF_COMPARE_AND_SWAP(SUFFIX, SCOPE, unsigned long long)                                                                            \
    GPUPROF_COMPARE_AND_SWAP(SUFFIX, SCOPE, unsigned short)

GPUPROF_EACH_SCOPE(, __MEMORY_SCOPE_DEVICE)
GPUPROF_EACH_SCOPE(_block, __MEMORY_SCOPE_WRKGRP)
GPUPROF_EACH_SCOPE(_system, __MEMORY_SCOPE_SYSTEM)
#undef GPUPROF_EACH_SCOPE
#undef GPUPROF_COMPARE_AND_SWAP
#undef GPUPROF_EXCHANGE
