// CUDA's mathematical functions that C does not have, for the host.
#pragma once

#include "language.h"
#include <math.h>

#ifdef __CUDA__
#define GPUPROF_HOST static inline __attribute__((host))
#else
#define GPUPROF_HOST static inline
#endif

// The C library's own: glibc has some of them, since C23.
#ifdef __GLIBC_PREREQ
#define GPUPROF_GLIBC(MINOR) __GLIBC_PREREQ(2, MINOR)
#else
#define GPUPROF_GLIBC(MINOR) 0
#endif

#define GPUPROF_HOST_FUNCTION(NAME, VALUE)                                                                                                 \
    GPUPROF_HOST double NAME(double x) { return VALUE; }                                                                                   \
    GPUPROF_HOST float NAME##f(float x) { return (float)NAME((double)x); }                                                                 \
    GPUPROF_HOST_FLOAT(NAME)
#define GPUPROF_HOST_FLOAT(NAME)                                                                                                           \
    GPUPROF_HOST float NAME(float x) { return NAME##f(x); }
#if GPUPROF_GLIBC(42)
GPUPROF_HOST_FLOAT(rsqrt)
#else
GPUPROF_HOST_FUNCTION(rsqrt, 1 / sqrt(x))
#endif
GPUPROF_HOST_FUNCTION(rcbrt, 1 / cbrt(x))
#if GPUPROF_GLIBC(41)
GPUPROF_HOST_FLOAT(sinpi)
GPUPROF_HOST_FLOAT(cospi)
#else
GPUPROF_HOST_FUNCTION(sinpi, sin(fmod(x, 2.0) * 3.14159265358979323846))
GPUPROF_HOST_FUNCTION(cospi, cos(fmod(x, 2.0) * 3.14159265358979323846))
#endif
GPUPROF_HOST_FUNCTION(normcdf, erfc(x * -0.70710678118654752440) / 2)
#undef GPUPROF_HOST_FUNCTION
#undef GPUPROF_HOST_FLOAT
#undef GPUPROF_GLIBC
#undef GPUPROF_HOST
