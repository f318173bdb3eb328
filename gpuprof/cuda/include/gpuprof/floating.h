// Floating-point intrinsics: arithmetic with a named rounding, fast approximations, conversions, reinterpretation.
#pragma once

#include "language.h"

// --- arithmetic that is never contracted into a fused multiply-add, per rounding mode ---

// It keeps subnormal numbers, whatever the compiler's options.
#ifdef GPUPROF_FAST_MATH
#define GPUPROF_FMA_IEEE(PTX, A, B, C)                                                                                                     \
    ({                                                                                                                                     \
        float result;                                                                                                                      \
        asm("fma." #PTX ".f32 %0, %1, %2, %3;" : "=f"(result) : "f"(A), "f"(B), "f"(C));                                                   \
        result;                                                                                                                            \
    })
#else
#define GPUPROF_FMA_IEEE(PTX, A, B, C) __nvvm_fma_##PTX##_f(A, B, C)
#endif

#define GPUPROF_ROUNDED(MODE, PTX)                                                                                                              \
    GPUPROF_API float __fadd_##MODE(float a, float b) { return __nvvm_add_##PTX##_f(a, b); }                                              \
    GPUPROF_API float __fsub_##MODE(float a, float b) { return __nvvm_add_##PTX##_f(a, -b); }                                             \
    GPUPROF_API float __fmul_##MODE(float a, float b) { return __nvvm_mul_##PTX##_f(a, b); }                                              \
    GPUPROF_API float __fmaf_##MODE(float a, float b, float c) { return __nvvm_fma_##PTX##_f(a, b, c); }                                  \
    GPUPROF_API float __fmaf_ieee_##MODE(float a, float b, float c) { return GPUPROF_FMA_IEEE(PTX, a, b, c); }                            \
    GPUPROF_API float __fdiv_##MODE(float a, float b) { return __nvvm_div_##PTX##_f(a, b); }                                              \
    GPUPROF_API float __frcp_##MODE(float a) { return __nvvm_rcp_##PTX##_f(a); }                                                          \
    GPUPROF_API float __fsqrt_##MODE(float a) { return __nvvm_sqrt_##PTX##_f(a); }                                                        \
    GPUPROF_API double __dadd_##MODE(double a, double b) { return __nvvm_add_##PTX##_d(a, b); }                                           \
    GPUPROF_API double __dsub_##MODE(double a, double b) { return __nvvm_add_##PTX##_d(a, -b); }                                          \
    GPUPROF_API double __dmul_##MODE(double a, double b) { return __nvvm_mul_##PTX##_d(a, b); }                                           \
    GPUPROF_API double __fma_##MODE(double a, double b, double c) { return __nvvm_fma_##PTX##_d(a, b, c); }                               \
    GPUPROF_API double __ddiv_##MODE(double a, double b) { return __nvvm_div_##PTX##_d(a, b); }                                           \
    GPUPROF_API double __drcp_##MODE(double a) { return __nvvm_rcp_##PTX##_d(a); }                                                        \
    GPUPROF_API double __dsqrt_##MODE(double a) { return __nvvm_sqrt_##PTX##_d(a); }
GPUPROF_ROUNDED(rn, rn)
GPUPROF_ROUNDED(rz, rz)
GPUPROF_ROUNDED(ru, rp)
GPUPROF_ROUNDED(rd, rm)
#undef GPUPROF_ROUNDED
#undef GPUPROF_FMA_IEEE

GPUPROF_API float __frsqrt_rn(float a) { return __nvvm_rsqrt_approx_f(a); }

// --- fast approximations: one instruction of the special-function unit and a scaling ---

GPUPROF_API float __saturatef(float x) { return __nvvm_saturate_f(x); }
GPUPROF_API double fdivide(double a, double b) { return a / b; }
GPUPROF_API float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
GPUPROF_API float __sinf(float x) { return __nvvm_sin_approx_f(x); }
GPUPROF_API float __cosf(float x) { return __nvvm_cos_approx_f(x); }
GPUPROF_API float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
GPUPROF_API float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
GPUPROF_API float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0x1.62e43p-1f; }
GPUPROF_API float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0x1.344136p-2f; }
GPUPROF_API float __expf(float x) { return __nvvm_ex2_approx_f(x * 0x1.715476p+0f); }
GPUPROF_API float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 0x1.a934fp+1f); }
GPUPROF_API float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
GPUPROF_API float __tanhf(float x)
{
    float result;
    asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
GPUPROF_API void __sincosf(float x, float *s, float *c)
{
    *s = __sinf(x);
    *c = __cosf(x);
}

// --- reinterpretation ---

GPUPROF_API int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
GPUPROF_API unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
GPUPROF_API float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
GPUPROF_API float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
GPUPROF_API long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
GPUPROF_API double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
GPUPROF_API int __double2hiint(double x) { return (int)(__builtin_bit_cast(long long, x) >> 32); }
GPUPROF_API int __double2loint(double x) { return (int)__builtin_bit_cast(long long, x); }
GPUPROF_API double __hiloint2double(int high, int low)
{
    return __builtin_bit_cast(double, (long long)high << 32 | (unsigned int)low);
}

// --- conversions with a named rounding ---

#define GPUPROF_CONVERT(NAME, TO, FROM, BUILTIN, MODE, PTX)                                                                                \
    GPUPROF_API TO NAME##_##MODE(FROM x) { return BUILTIN##_##PTX(x); }
#define GPUPROF_CONVERSION(NAME, TO, FROM, BUILTIN)                                                                                        \
    GPUPROF_CONVERT(NAME, TO, FROM, BUILTIN, rn, rn)                                                                                       \
    GPUPROF_CONVERT(NAME, TO, FROM, BUILTIN, rz, rz)                                                                                       \
    GPUPROF_CONVERT(NAME, TO, FROM, BUILTIN, ru, rp)                                                                                       \
    GPUPROF_CONVERT(NAME, TO, FROM, BUILTIN, rd, rm)
GPUPROF_CONVERSION(__float2int, int, float, __nvvm_f2i)
GPUPROF_CONVERSION(__float2uint, unsigned int, float, __nvvm_f2ui)
GPUPROF_CONVERSION(__float2ll, long long, float, __nvvm_f2ll)
GPUPROF_CONVERSION(__float2ull, unsigned long long, float, __nvvm_f2ull)
GPUPROF_CONVERSION(__double2int, int, double, __nvvm_d2i)
GPUPROF_CONVERSION(__double2uint, unsigned int, double, __nvvm_d2ui)
GPUPROF_CONVERSION(__double2ll, long long, double, __nvvm_d2ll)
GPUPROF_CONVERSION(__double2ull, unsigned long long, double, __nvvm_d2ull)
GPUPROF_CONVERSION(__double2float, float, double, __nvvm_d2f)
GPUPROF_CONVERSION(__int2float, float, int, __nvvm_i2f)
GPUPROF_CONVERSION(__uint2float, float, unsigned int, __nvvm_ui2f)
GPUPROF_CONVERSION(__ll2float, float, long long, __nvvm_ll2f)
GPUPROF_CONVERSION(__ull2float, float, unsigned long long, __nvvm_ull2f)
GPUPROF_CONVERSION(__ll2double, double, long long, __nvvm_ll2d)
GPUPROF_CONVERSION(__ull2double, double, unsigned long long, __nvvm_ull2d)
#undef GPUPROF_CONVERSION
#undef GPUPROF_CONVERT
GPUPROF_API double __int2double_rn(int x) { return x; }
GPUPROF_API double __uint2double_rn(unsigned int x) { return x; }
