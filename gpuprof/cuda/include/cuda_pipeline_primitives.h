// Copies from global to shared memory that pass the registers by: __pipeline_memcpy_async and what waits for them.
#pragma once

#include "gpuprof/memory.h"

// `size` is 4, 8 or 16 and the alignment of both; the last `zfill` bytes become zero and are not read.
static inline __attribute__((device, always_inline, nodebug)) void __pipeline_memcpy_async(
    void *__restrict__ to_shared, const void *__restrict__ from_global, size_t size, size_t zfill = 0)
{
    unsigned int to = (unsigned int)__cvta_generic_to_shared(to_shared);
    size_t from = __cvta_generic_to_global(from_global);
    unsigned int taken = (unsigned int)(size - zfill);
    switch (size) {
    case 4: asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(taken) : "memory"); return;
    case 8: asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(taken) : "memory"); return;
    case 16: asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(taken) : "memory"); return;
    default: __builtin_trap();
    }
}

// The copies since the last commit become a batch.
static inline __attribute__((device, always_inline, nodebug)) void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until only the `newest` batches may be on their way; more than 8 are counted as 8.
static inline __attribute__((device, always_inline, nodebug)) void __pipeline_wait_prior(size_t newest)
{
    switch (newest) {
    case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); return;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); return;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); return;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); return;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); return;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); return;
    case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); return;
    case 7: asm volatile("cp.async.wait_group 7;" ::: "memory"); return;
    default: asm volatile("cp.async.wait_group 8;" ::: "memory"); return;
    }
}
