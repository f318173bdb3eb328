// Complex numbers of CUDA: a pair of floats or doubles, with arithmetic that scales where it would overflow.
#pragma once

#ifndef __cplusplus
#include <math.h>
#endif
#include "gpuprof/cuda.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// C, R: the pair and its part. F: the suffix of the functions' names, NAME: of what makes a pair.
#define GPUPROF_COMPLEX(C, R, F, NAME, ABS, SQRT, FMA)                                                                                     \
    GPUPROF_BOTH C make_##NAME(R re, R im) { return GPUPROF_OF(C){re, im}; }                                                               \
    GPUPROF_BOTH R cuCreal##F(C x) { return x.x; }                                                                                         \
    GPUPROF_BOTH R cuCimag##F(C x) { return x.y; }                                                                                         \
    GPUPROF_BOTH C cuConj##F(C x) { return GPUPROF_OF(C){x.x, -x.y}; }                                                                     \
    GPUPROF_BOTH C cuCadd##F(C x, C y) { return GPUPROF_OF(C){x.x + y.x, x.y + y.y}; }                                                     \
    GPUPROF_BOTH C cuCsub##F(C x, C y) { return GPUPROF_OF(C){x.x - y.x, x.y - y.y}; }                                                     \
    GPUPROF_BOTH C cuCmul##F(C x, C y) { return GPUPROF_OF(C){x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x}; }                             \
    GPUPROF_BOTH C cuCdiv##F(C x, C y)                                                                                                     \
    {                                                                                                                                      \
        const R scale = (R)1 / (ABS(y.x) + ABS(y.y));                                                                                      \
        const R a = x.x * scale, b = x.y * scale, c = y.x * scale, d = y.y * scale, inverse = (R)1 / (c * c + d * d);                      \
        return GPUPROF_OF(C){(a * c + b * d) * inverse, (b * c - a * d) * inverse};                                                        \
    }                                                                                                                                      \
    GPUPROF_BOTH R cuCabs##F(C x)                                                                                                          \
    {                                                                                                                                      \
        const R a = ABS(x.x), b = ABS(x.y), large = a > b ? a : b, small = a > b ? b : a, ratio = small / large;                           \
        const int is_plain = large > 0 && large - large == 0 && small == small; /* no 0, infinity or NaN */                                \
        return is_plain ? large * SQRT((R)1 + ratio * ratio) : large + small;                                                              \
    }                                                                                                                                      \
    GPUPROF_BOTH C cuCfma##F(C x, C y, C d)                                                                                                \
    {                                                                                                                                      \
        const R re = FMA(x.x, y.x, d.x), im = FMA(x.x, y.y, d.y);                                                                          \
        return GPUPROF_OF(C){FMA(-x.y, y.y, re), FMA(x.y, y.x, im)};                                                                       \
    }
GPUPROF_COMPLEX(cuFloatComplex, float, f, cuFloatComplex, fabsf, sqrtf, fmaf)
GPUPROF_COMPLEX(cuDoubleComplex, double, , cuDoubleComplex, fabs, sqrt, fma)
#undef GPUPROF_COMPLEX

GPUPROF_BOTH cuComplex make_cuComplex(float re, float im) { return GPUPROF_OF(cuComplex){re, im}; }
GPUPROF_BOTH cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return GPUPROF_OF(cuDoubleComplex){x.x, x.y}; }
GPUPROF_BOTH cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) { return GPUPROF_OF(cuFloatComplex){(float)x.x, (float)x.y}; }
