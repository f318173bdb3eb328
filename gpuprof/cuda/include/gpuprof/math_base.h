// What the mathematical functions are built from. The same code compiles for the host, so that it can be tested there.
#pragma once

#ifdef __CUDA__
#include "language.h"
#define GPUPROF_MATH GPUPROF_API
#define GPUPROF_TABLE const __attribute__((device))
#else
#define GPUPROF_MATH static inline
#define GPUPROF_TABLE const
#endif

// c0 + c1 x + c2 x^2 ...: Horner's scheme, one fused multiply-add a step.
#define GPUPROF_P2(x, a, b) fma(b, x, a)
#define GPUPROF_P3(x, a, ...) fma(GPUPROF_P2(x, __VA_ARGS__), x, a)
#define GPUPROF_P4(x, a, ...) fma(GPUPROF_P3(x, __VA_ARGS__), x, a)
#define GPUPROF_P5(x, a, ...) fma(GPUPROF_P4(x, __VA_ARGS__), x, a)
#define GPUPROF_P6(x, a, ...) fma(GPUPROF_P5(x, __VA_ARGS__), x, a)
#define GPUPROF_P7(x, a, ...) fma(GPUPROF_P6(x, __VA_ARGS__), x, a)
#define GPUPROF_P8(x, a, ...) fma(GPUPROF_P7(x, __VA_ARGS__), x, a)
#define GPUPROF_P9(x, a, ...) fma(GPUPROF_P8(x, __VA_ARGS__), x, a)
#define GPUPROF_P10(x, a, ...) fma(GPUPROF_P9(x, __VA_ARGS__), x, a)
#define GPUPROF_P11(x, a, ...) fma(GPUPROF_P10(x, __VA_ARGS__), x, a)
#define GPUPROF_P12(x, a, ...) fma(GPUPROF_P11(x, __VA_ARGS__), x, a)
#define GPUPROF_P13(x, a, ...) fma(GPUPROF_P12(x, __VA_ARGS__), x, a)
#define GPUPROF_P14(x, a, ...) fma(GPUPROF_P13(x, __VA_ARGS__), x, a)

namespace gpuprof_math {

GPUPROF_MATH float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
GPUPROF_MATH double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
GPUPROF_MATH int as_int(float x) { return __builtin_bit_cast(int, x); }
GPUPROF_MATH float as_float(int x) { return __builtin_bit_cast(float, x); }
GPUPROF_MATH long long as_long(double x) { return __builtin_bit_cast(long long, x); }
GPUPROF_MATH double as_double(long long x) { return __builtin_bit_cast(double, x); }

GPUPROF_MATH float infinity() { return __builtin_inff(); }
GPUPROF_MATH float nan() { return __builtin_nanf(""); }

// 2^n; n in [-126, 127] for float, in [-1022, 1023] for double.
GPUPROF_MATH float power_of_two(int n) { return as_float((n + 127) << 23); }
GPUPROF_MATH double power_of_two_double(int n) { return as_double((long long)(n + 1023) << 52); }

// Sums and products that must round here, whatever the compiler would like to fuse them with.
#ifdef __CUDA__
GPUPROF_MATH float ex2(float x) { return __nvvm_ex2_approx_f(x); }
GPUPROF_MATH float lg2(float x) { return __nvvm_lg2_approx_f(x); }
GPUPROF_MATH float reciprocal_root(float x) { return __nvvm_rsqrt_approx_f(x); }
GPUPROF_MATH float add(float a, float b) { return __nvvm_add_rn_f(a, b); }
GPUPROF_MATH float mul(float a, float b) { return __nvvm_mul_rn_f(a, b); }
GPUPROF_MATH double add(double a, double b) { return __nvvm_add_rn_d(a, b); }
GPUPROF_MATH double mul(double a, double b) { return __nvvm_mul_rn_d(a, b); }
#else
#pragma clang fp contract(off)
GPUPROF_MATH float ex2(float x) { return __builtin_exp2f(x); }
GPUPROF_MATH float lg2(float x) { return __builtin_log2f(x); }
GPUPROF_MATH float reciprocal_root(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
GPUPROF_MATH float add(float a, float b) { return a + b; }
GPUPROF_MATH float mul(float a, float b) { return a * b; }
GPUPROF_MATH double add(double a, double b) { return a + b; }
GPUPROF_MATH double mul(double a, double b) { return a * b; }
#endif

} // namespace gpuprof_math
