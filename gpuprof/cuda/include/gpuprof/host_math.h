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

#define GPUPROF_HOST_SINCOSPI(T, NAME)                                                                                                     \
    GPUPROF_HOST void NAME(T x, T *s, T *c)                                                                                                \
    {                                                                                                                                      \
        *s = sinpi(x);                                                                                                                     \
        *c = cospi(x);                                                                                                                     \
    }
GPUPROF_HOST_SINCOSPI(double, sincospi)
GPUPROF_HOST_SINCOSPI(float, sincospif)
GPUPROF_HOST_SINCOSPI(float, sincospi)
#undef GPUPROF_HOST_SINCOSPI
GPUPROF_HOST void sincos(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }

// exp(x * x) erfc(x); for large x by the asymptotic series, where erfc is too small.
GPUPROF_HOST double erfcx(double x)
{
    if (x < 20)
        return exp(x * x) * erfc(x);
    double sum = 0, term = 1;
    for (int k = 0; k < 12; ++k) {
        sum += term;
        term *= -(2 * k + 1) / (2 * x * x);
    }
    return sum / (x * 1.77245385090551602730);
}
// By Halley's steps: y with erfc(y) = x. The start is near enough for four of them.
GPUPROF_HOST double erfcinv(double x)
{
    if (!(x > 0) || !(x < 2))
        return x == 0 ? HUGE_VAL : x == 2 ? -HUGE_VAL : NAN;
    if (x > 1)
        return -erfcinv(2 - x);
    const double t = sqrt(-2 * log(x / 2));
    double y = (t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))) * 0.70710678118654752440;
    for (int step = 0; step < 4; ++step) {
        const double off = (erfcx(y) - x * exp(y * y)) * 0.88622692545275801365; // over the slope of erfc
        y += off / (1 + y * off);
    }
    return y;
}
GPUPROF_HOST double erfinv(double x)
{
    if (!(fabs(x) <= 1))
        return NAN;
    if (fabs(x) > 0.5)
        return x > 0 ? erfcinv(1 - x) : -erfcinv(1 + x);
    double y = x * 0.88622692545275801365;
    for (int step = 0; step < 5; ++step) {
        const double off = (erf(y) - x) * exp(y * y) * 0.88622692545275801365;
        y -= off / (1 + y * off);
    }
    return y;
}
GPUPROF_HOST double normcdfinv(double x) { return -1.41421356237309504880 * erfcinv(2 * x); }
#define GPUPROF_HOST_FLOATS(NAME)                                                                                                          \
    GPUPROF_HOST float NAME##f(float x) { return (float)NAME((double)x); }                                                                 \
    GPUPROF_HOST_FLOAT(NAME)
GPUPROF_HOST_FLOATS(erfcx)
GPUPROF_HOST_FLOATS(erfcinv)
GPUPROF_HOST_FLOATS(erfinv)
GPUPROF_HOST_FLOATS(normcdfinv)
#undef GPUPROF_HOST_FLOATS
#undef GPUPROF_HOST_FLOAT
#undef GPUPROF_GLIBC
#undef GPUPROF_HOST
