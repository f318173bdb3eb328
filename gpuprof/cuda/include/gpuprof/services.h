// What a kernel may ask of the driver: text output, failed assertions, memory from the device heap.
#pragma once

#include "language.h"

extern "C" {
__device__ int printf(const char *format, ...); // clang packs the arguments and calls vprintf
__device__ int vprintf(const char *format, const char *arguments);
__device__ [[noreturn]] void __assertfail(const char *condition, const char *file, unsigned int line, const char *function, size_t char_nbytes);
__device__ void *malloc(size_t nbytes);
__device__ void free(void *p);

// Stands in the table of an abstract class for what its heirs must have. Clang asks for it by this name.
__device__ inline __attribute__((nodebug)) void __cxa_pure_virtual() { __builtin_trap(); }
}

#define __prof_trigger(counter) asm volatile("pmevent %0;" ::"n"(counter))

// What `assert` of <assert.h> calls.
__device__ static inline __attribute__((nodebug, always_inline)) void __assert_fail(const char *condition, const char *file, int line,
                                                                                    const char *function)
{
    __assertfail(condition, file, line, function, 1);
}


// Weak: files that are linked have one of these each.
__device__ __attribute__((nodebug, weak)) void *operator new(size_t nbytes) { return malloc(nbytes); }
__device__ __attribute__((nodebug, weak)) void *operator new[](size_t nbytes) { return malloc(nbytes); }
__device__ __attribute__((nodebug, weak)) void operator delete(void *p) noexcept { free(p); }
__device__ __attribute__((nodebug, weak)) void operator delete[](void *p) noexcept { free(p); }
__device__ __attribute__((nodebug, weak)) void operator delete(void *p, size_t) noexcept { free(p); }
__device__ __attribute__((nodebug, weak)) void operator delete[](void *p, size_t) noexcept { free(p); }
// Of <new>, which the host has.
__device__ inline __attribute__((nodebug, always_inline)) void *operator new(size_t, void *p) noexcept { return p; }
__device__ inline __attribute__((nodebug, always_inline)) void *operator new[](size_t, void *p) noexcept { return p; }
__device__ inline __attribute__((nodebug, always_inline)) void operator delete(void *, void *) noexcept {}
__device__ inline __attribute__((nodebug, always_inline)) void operator delete[](void *, void *) noexcept {}
