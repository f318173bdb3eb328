// Roundings that the host does not do by itself: integers from and to floating point, by CUDA's names of the modes.
#pragma once

#include "language.h"

GPUPROF_BOTH double gpuprof_rounded_rn(double v) { return __builtin_rint(v); }
GPUPROF_BOTH double gpuprof_rounded_rz(double v) { return __builtin_trunc(v); }
GPUPROF_BOTH double gpuprof_rounded_rd(double v) { return __builtin_floor(v); }
GPUPROF_BOTH double gpuprof_rounded_ru(double v) { return __builtin_ceil(v); }
GPUPROF_BOTH float gpuprof_beside(float v, bool is_up) // the next float; zero is exact and does not come here
{
    return __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, v) + (is_up == (v > 0) ? 1 : -1));
}
GPUPROF_BOTH float gpuprof_toward_rd(float v, bool is_over, bool) { return is_over ? gpuprof_beside(v, false) : v; }
GPUPROF_BOTH float gpuprof_toward_ru(float v, bool, bool is_under) { return is_under ? gpuprof_beside(v, true) : v; }
GPUPROF_BOTH float gpuprof_toward_rz(float v, bool is_over, bool is_under)
{
    return v > 0 ? gpuprof_toward_rd(v, is_over, is_under) : gpuprof_toward_ru(v, is_over, is_under);
}

// NaN is 0, as in the conversions of the GPU; what is out of range becomes the nearest integer.
template <typename T> GPUPROF_BOTH T gpuprof_clamped(double x)
{
    constexpr bool is_signed = (T)-1 < (T)0;
    constexpr T least = is_signed ? (T)((unsigned long long)1 << (sizeof(T) * 8 - 1)) : (T)0, most = (T)~least;
    return x != x ? (T)0 : x <= (double)least ? least : x >= (double)most ? most : (T)x;
}

// By the long double of the host, which holds every integer.
#define GPUPROF_INTEGER(C)                                                                                                                 \
    template <typename T> GPUPROF_BOTH float gpuprof_integer_##C(T v)                                                                      \
    {                                                                                                                                      \
        const float near = (float)v;                                                                                                       \
        const long double exact = (long double)v, found = (long double)near;                                                               \
        const bool is_over = found > exact, is_under = found < exact;                                                                      \
        return gpuprof_toward_##C(near, is_over, is_under);                                                                                \
    }
#ifndef __CUDA_ARCH__
GPUPROF_INTEGER(rz)
GPUPROF_INTEGER(rd)
GPUPROF_INTEGER(ru)
#endif
#undef GPUPROF_INTEGER
