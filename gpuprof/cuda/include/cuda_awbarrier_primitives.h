// Barriers in shared memory at which threads arrive first and wait later: __mbarrier_init, __mbarrier_arrive and what tests them.
#pragma once

#ifdef __CUDA__ // a .cpp file gets nothing of it, as with nvcc

#include "gpuprof/cuda.h"

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

#define GPUPROF_BARRIER_PLACE "r"((unsigned int)__cvta_generic_to_shared(barrier))

GPUPROF_BOTH uint32_t __mbarrier_maximum_count() { return (1 << 14) - 1; }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
GPUPROF_API void __mbarrier_init(__mbarrier_t *barrier, uint32_t expected)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::GPUPROF_BARRIER_PLACE, "r"(expected) : "memory");
}
GPUPROF_API void __mbarrier_inval(__mbarrier_t *barrier) { asm volatile("mbarrier.inval.shared.b64 [%0];" ::GPUPROF_BARRIER_PLACE : "memory"); }
GPUPROF_API __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier)
{
    __mbarrier_token_t token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : GPUPROF_BARRIER_PLACE : "memory");
    return token;
}
GPUPROF_API __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *barrier)
{
    __mbarrier_token_t token;
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token) : GPUPROF_BARRIER_PLACE : "memory");
    return token;
}
GPUPROF_API bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token)
{
    unsigned int is_over;
    asm volatile("{\n.reg .pred %%over;\nmbarrier.test_wait.shared.b64 %%over, [%1], %2;\nselp.b32 %0, 1, 0, %%over;\n}"
                 : "=r"(is_over)
                 : GPUPROF_BARRIER_PLACE, "l"(token)
                 : "memory");
    return is_over;
}
GPUPROF_API uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token)
{
    unsigned int count;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
    return count;
}
#else
// Before sm_80, of words: the lower half is the number of threads to expect, the upper one how many are missing and, in its
// top bit, the phase. A token is the state before an arrival.
GPUPROF_API volatile unsigned int *gpuprof_barrier_state(__mbarrier_t *barrier) { return (volatile unsigned int *)barrier + 1; }
GPUPROF_API void __mbarrier_init(__mbarrier_t *barrier, uint32_t expected) { *barrier = (uint64_t)expected << 32 | expected; }
GPUPROF_API void __mbarrier_inval(__mbarrier_t *) {}
GPUPROF_API __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier)
{
    while (!(*gpuprof_barrier_state(barrier) & 0x7fffffff)) // the phase is about to end
        ;
    __threadfence_block();
    const unsigned int before = atomicSub((unsigned int *)barrier + 1, 1u);
    if ((before & 0x7fffffff) == 1) {
        __threadfence_block();
        *gpuprof_barrier_state(barrier) = (~before & 0x80000000u) | *(volatile unsigned int *)barrier;
    }
    return before;
}
GPUPROF_API __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *barrier)
{
    atomicSub((unsigned int *)barrier, 1u);
    return __mbarrier_arrive(barrier);
}
GPUPROF_API bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token)
{
    return (*gpuprof_barrier_state(barrier) ^ (unsigned int)token) >> 31;
}
GPUPROF_API uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) { return (unsigned int)token & 0x7fffffff; }
#endif

// By the parity of a phase, and with a limit of time: sm_90.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define GPUPROF_BARRIER_WAIT(NAME, OPCODE, T, LETTER, LIMIT, PARAMETER, ...)                                                               \
    GPUPROF_API bool NAME(__mbarrier_t *barrier, T phase PARAMETER)                                                                        \
    {                                                                                                                                      \
        unsigned int is_over;                                                                                                              \
        asm volatile("{\n.reg .pred %%over;\n" OPCODE ".shared.b64 %%over, [%1], %2" LIMIT ";\nselp.b32 %0, 1, 0, %%over;\n}"              \
                     : "=r"(is_over)                                                                                                       \
                     : GPUPROF_BARRIER_PLACE, LETTER __VA_ARGS__                                                                           \
                     : "memory");                                                                                                          \
        return is_over;                                                                                                                    \
    }
#define GPUPROF_LIMIT , uint32_t nanoseconds
GPUPROF_BARRIER_WAIT(__mbarrier_test_wait_parity, "mbarrier.test_wait.parity", bool, "r"((unsigned int)phase), "", )
GPUPROF_BARRIER_WAIT(__mbarrier_try_wait, "mbarrier.try_wait", __mbarrier_token_t, "l"(phase), ", %3", GPUPROF_LIMIT, , "r"(nanoseconds))
GPUPROF_BARRIER_WAIT(
    __mbarrier_try_wait_parity, "mbarrier.try_wait.parity", bool, "r"((unsigned int)phase), ", %3", GPUPROF_LIMIT, , "r"(nanoseconds))
#undef GPUPROF_BARRIER_WAIT
#undef GPUPROF_LIMIT
#else // as NVIDIA's headers have it
GPUPROF_API bool __mbarrier_test_wait_parity(__mbarrier_t *, bool) { __builtin_trap(); }
GPUPROF_API bool __mbarrier_try_wait(__mbarrier_t *, __mbarrier_token_t, uint32_t) { __builtin_trap(); }
GPUPROF_API bool __mbarrier_try_wait_parity(__mbarrier_t *, bool, uint32_t) { __builtin_trap(); }
#endif
#endif
