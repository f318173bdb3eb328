// Barriers, fences, votes, shuffles and other traffic inside a block or warp.
#pragma once

#include "language.h"

// A barrier must not be moved into, out of or across divergent code: the builtins are convergent, and so are these.
#define GPUPROF_SYNC static inline __attribute__((device, always_inline, nodebug, convergent))

// __syncthreads() itself is a builtin of clang's.
GPUPROF_SYNC int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
GPUPROF_SYNC int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
GPUPROF_SYNC int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
GPUPROF_SYNC void __syncwarp(unsigned int mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
GPUPROF_SYNC void __barrier_sync(unsigned int id) { __nvvm_barrier_sync(id); }
GPUPROF_SYNC void __barrier_sync_count(unsigned int id, unsigned int count) { __nvvm_barrier_sync_cnt(id, count); }

GPUPROF_API void __threadfence_block() { __nvvm_membar_cta(); }
GPUPROF_API void __threadfence() { __nvvm_membar_gl(); }
GPUPROF_API void __threadfence_system() { __nvvm_membar_sys(); }

// --- votes ---

GPUPROF_SYNC unsigned int __activemask() { return __nvvm_activemask(); }
GPUPROF_SYNC int __all_sync(unsigned int mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
GPUPROF_SYNC int __any_sync(unsigned int mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
GPUPROF_SYNC int __uni_sync(unsigned int mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
GPUPROF_SYNC unsigned int __ballot_sync(unsigned int mask, int predicate) { return __nvvm_vote_ballot_sync(mask, predicate); }

// --- shuffles: values of 4 bytes, and wider ones as two ---

// The last operand of `shfl`: the clamp lane in bits 0-4 and, in bits 8-12, the lane bits that stay fixed in a segment.
#define GPUPROF_SEGMENT(width) ((32 - (width)) << 8)

#define GPUPROF_SHUFFLE(NAME, MODE, LANE, CLAMP)                                                                                           \
    GPUPROF_SYNC int NAME(unsigned int mask, int v, LANE lane, int width = gpuprof_warp_size)                                                       \
    {                                                                                                                                      \
        return __nvvm_shfl_sync_##MODE##_i32(mask, v, lane, GPUPROF_SEGMENT(width) | CLAMP);                                               \
    }                                                                                                                                      \
    GPUPROF_SYNC float NAME(unsigned int mask, float v, LANE lane, int width = gpuprof_warp_size)                                                   \
    {                                                                                                                                      \
        return __nvvm_shfl_sync_##MODE##_f32(mask, v, lane, GPUPROF_SEGMENT(width) | CLAMP);                                               \
    }                                                                                                                                      \
    GPUPROF_SYNC unsigned int NAME(unsigned int mask, unsigned int v, LANE lane, int width = gpuprof_warp_size)                                     \
    {                                                                                                                                      \
        return (unsigned int)NAME(mask, (int)v, lane, width);                                                                              \
    }                                                                                                                                      \
    GPUPROF_SYNC long long NAME(unsigned int mask, long long v, LANE lane, int width = gpuprof_warp_size)                                           \
    {                                                                                                                                      \
        int low = NAME(mask, (int)v, lane, width);                                                                                         \
        int high = NAME(mask, (int)(v >> 32), lane, width);                                                                                \
        return (long long)high << 32 | (unsigned int)low;                                                                                  \
    }                                                                                                                                      \
    GPUPROF_SYNC unsigned long long NAME(unsigned int mask, unsigned long long v, LANE lane, int width = gpuprof_warp_size)                         \
    {                                                                                                                                      \
        return (unsigned long long)NAME(mask, (long long)v, lane, width);                                                                  \
    }                                                                                                                                      \
    GPUPROF_SYNC long NAME(unsigned int mask, long v, LANE lane, int width = gpuprof_warp_size)                                                     \
    {                                                                                                                                      \
        return (long)NAME(mask, (long long)v, lane, width);                                                                                \
    }                                                                                                                                      \
    GPUPROF_SYNC unsigned long NAME(unsigned int mask, unsigned long v, LANE lane, int width = gpuprof_warp_size)                                   \
    {                                                                                                                                      \
        return (unsigned long)NAME(mask, (long long)v, lane, width);                                                                       \
    }                                                                                                                                      \
    GPUPROF_SYNC double NAME(unsigned int mask, double v, LANE lane, int width = gpuprof_warp_size)                                                 \
    {                                                                                                                                      \
        return __builtin_bit_cast(double, NAME(mask, __builtin_bit_cast(long long, v), lane, width));                                      \
    }

GPUPROF_SHUFFLE(__shfl_sync, idx, int, 0x1f)
GPUPROF_SHUFFLE(__shfl_up_sync, up, unsigned int, 0)
GPUPROF_SHUFFLE(__shfl_down_sync, down, unsigned int, 0x1f)
GPUPROF_SHUFFLE(__shfl_xor_sync, bfly, int, 0x1f)
#undef GPUPROF_SHUFFLE

// --- match and reduce ---

#define GPUPROF_MATCH(T, BITS, RAW)                                                                                                        \
    GPUPROF_SYNC unsigned int __match_any_sync(unsigned int mask, T v)                                                                     \
    {                                                                                                                                      \
        return __nvvm_match_any_sync_i##BITS(mask, __builtin_bit_cast(RAW, v));                                                            \
    }                                                                                                                                      \
    GPUPROF_SYNC unsigned int __match_all_sync(unsigned int mask, T v, int *all)                                                           \
    {                                                                                                                                      \
        return __nvvm_match_all_sync_i##BITS##p(mask, __builtin_bit_cast(RAW, v), all);                                                    \
    }

GPUPROF_MATCH(int, 32, int)
GPUPROF_MATCH(unsigned int, 32, int)
GPUPROF_MATCH(float, 32, int)
GPUPROF_MATCH(long, 64, long long)
GPUPROF_MATCH(unsigned long, 64, long long)
GPUPROF_MATCH(long long, 64, long long)
GPUPROF_MATCH(unsigned long long, 64, long long)
GPUPROF_MATCH(double, 64, long long)
#undef GPUPROF_MATCH

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
GPUPROF_SYNC int __reduce_add_sync(unsigned int mask, int v) { return __nvvm_redux_sync_add(v, mask); }
GPUPROF_SYNC unsigned int __reduce_add_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_add(v, mask); }
GPUPROF_SYNC int __reduce_min_sync(unsigned int mask, int v) { return __nvvm_redux_sync_min(v, mask); }
GPUPROF_SYNC unsigned int __reduce_min_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_umin(v, mask); }
GPUPROF_SYNC int __reduce_max_sync(unsigned int mask, int v) { return __nvvm_redux_sync_max(v, mask); }
GPUPROF_SYNC unsigned int __reduce_max_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_umax(v, mask); }
GPUPROF_SYNC unsigned int __reduce_and_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_and(v, mask); }
GPUPROF_SYNC unsigned int __reduce_or_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_or(v, mask); }
GPUPROF_SYNC unsigned int __reduce_xor_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_xor(v, mask); }
#endif

// --- time, traps, and services of the driver ---

GPUPROF_API long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
GPUPROF_API long clock() { return __nvvm_read_ptx_sreg_clock(); }
GPUPROF_API unsigned long long __globaltimer() { return __nvvm_read_ptx_sreg_globaltimer(); }
GPUPROF_API void __nanosleep(unsigned int nanoseconds) { __nvvm_nanosleep(nanoseconds); }
GPUPROF_API void __trap() { asm volatile("trap;"); }
GPUPROF_API void __brkpt() { asm volatile("brkpt;"); }
