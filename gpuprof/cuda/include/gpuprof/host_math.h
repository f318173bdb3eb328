// CUDA's mathematical functions that C does not have, for the host.
#pragma once

#include "language.h"
#include <math.h>

#ifdef __CUDA__
#define GPUPROF_HOST static inline __attribute__((host))
#else
#define GPUPROF_HOST static inline
#endif

#define GPUPROF_HOST_FUNCTION(NAME, VALUE)                                                                                                 \
    GPUPROF_HOST double NAME(double x) { return VALUE; }                                                                                   \
    GPUPROF_HOST float NAME##f(float x) { return (float)NAME((double)x); }                                                                 \
    GPUPROF_HOST float NAME(float x) { return NAME##f(x); }
GPUPROF_HOST_FUNCTION(rsqrt, 1 / sqrt(x))
GPUPROF_HOST_FUNCTION(rcbrt, 1 / cbrt(x))
GPUPROF_HOST_FUNCTION(sinpi, sin(fmod(x, 2.0) * 3.14159265358979323846))
GPUPROF_HOST_FUNCTION(cospi, cos(fmod(x, 2.0) * 3.14159265358979323846))
GPUPROF_HOST_FUNCTION(normcdf, erfc(x * -0.70710678118654752440) / 2)
#undef GPUPROF_HOST_FUNCTION
#undef GPUPROF_HOST
