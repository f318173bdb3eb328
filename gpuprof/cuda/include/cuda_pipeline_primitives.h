// Copies from global to shared memory that pass the registers by: __pipeline_memcpy_async and what waits for them.
// Before sm_80 a thread makes its copies itself, at once.
#pragma once

#ifdef __CUDA__ // a .cpp file gets nothing of it, as with nvcc

#include "cuda_awbarrier_primitives.h"
#include "gpuprof/memory.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define GPUPROF_PIPELINE(...) asm volatile(__VA_ARGS__)
#else
#define GPUPROF_PIPELINE(...)
#endif

// `size` is 4, 8 or 16 and the alignment of both; the last `zfill` bytes become zero and are not read.
static inline __attribute__((device, always_inline, nodebug)) void __pipeline_memcpy_async(
    void *__restrict__ to_shared, const void *__restrict__ from_global, size_t size, size_t zfill = 0)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    unsigned int to = (unsigned int)__cvta_generic_to_shared(to_shared);
    size_t from = __cvta_generic_to_global(from_global);
    unsigned int taken = (unsigned int)(size - zfill);
    switch (size) {
    case 4: asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(taken) : "memory"); return;
    case 8: asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(taken) : "memory"); return;
    case 16: asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(taken) : "memory"); return;
    default: __builtin_trap();
    }
#else
    if (size != 4 && size != 8 && size != 16)
        __builtin_trap();
    if (zfill) {
        for (size_t i = 0; i < size; ++i)
            ((char *)to_shared)[i] = i < size - zfill ? ((const char *)from_global)[i] : 0;
    } else if (size == 16) {
        *(uint4 *)to_shared = *(const uint4 *)from_global;
    } else if (size == 8) {
        *(uint2 *)to_shared = *(const uint2 *)from_global;
    } else {
        *(unsigned int *)to_shared = *(const unsigned int *)from_global;
    }
#endif
}

// The copies since the last commit become a batch.
static inline __attribute__((device, always_inline, nodebug)) void __pipeline_commit()
{
    GPUPROF_PIPELINE("cp.async.commit_group;" ::: "memory");
}

// Waits until only the `newest` batches may be on their way; more than 8 are counted as 8.
static inline __attribute__((device, always_inline, nodebug)) void __pipeline_wait_prior(size_t newest)
{
    switch (newest) {
    case 0: GPUPROF_PIPELINE("cp.async.wait_group 0;" ::: "memory"); return;
    case 1: GPUPROF_PIPELINE("cp.async.wait_group 1;" ::: "memory"); return;
    case 2: GPUPROF_PIPELINE("cp.async.wait_group 2;" ::: "memory"); return;
    case 3: GPUPROF_PIPELINE("cp.async.wait_group 3;" ::: "memory"); return;
    case 4: GPUPROF_PIPELINE("cp.async.wait_group 4;" ::: "memory"); return;
    case 5: GPUPROF_PIPELINE("cp.async.wait_group 5;" ::: "memory"); return;
    case 6: GPUPROF_PIPELINE("cp.async.wait_group 6;" ::: "memory"); return;
    case 7: GPUPROF_PIPELINE("cp.async.wait_group 7;" ::: "memory"); return;
    default: GPUPROF_PIPELINE("cp.async.wait_group 8;" ::: "memory"); return;
    }
}

// The barrier's phase ends only after the copies that this thread has made before.
static inline __attribute__((device, always_inline, nodebug)) void __pipeline_arrive_on(__mbarrier_t *barrier)
{
    GPUPROF_PIPELINE("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"((unsigned int)__cvta_generic_to_shared(barrier)) : "memory");
}
#endif
