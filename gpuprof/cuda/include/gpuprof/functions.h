// The mathematical functions under their C, CUDA and C++ names.
#pragma once

#include "math_bessel.h"
#include "math_double.h"
#include "math_exact.h"
#include "math_float.h"
#include "math_special.h"

// sinf(float), sin(double), and C++'s sin(float) and sin(int).
#define GPUPROF_UNARY(NAME, FLOAT, DOUBLE)                                                                                                 \
    GPUPROF_API float NAME##f(float x) { return FLOAT(x); }                                                                                \
    GPUPROF_API float NAME(float x) { return FLOAT(x); }                                                                                   \
    GPUPROF_API double NAME(double x) { return DOUBLE(x); }                                                                                \
    template <typename T, typename gpuprof_if<__is_integral(T)>::type = 0>                                                                 \
    GPUPROF_API double NAME(T x)                                                                                                           \
    {                                                                                                                                      \
        return DOUBLE((double)x);                                                                                                          \
    }

#define GPUPROF_BINARY(NAME, FLOAT, DOUBLE)                                                                                                \
    GPUPROF_API float NAME##f(float x, float y) { return FLOAT(x, y); }                                                                    \
    GPUPROF_API float NAME(float x, float y) { return FLOAT(x, y); }                                                                       \
    GPUPROF_API double NAME(double x, double y) { return DOUBLE(x, y); }                                                                   \
    template <typename Tx, typename Ty,                                                                                                    \
              typename gpuprof_if<__is_arithmetic(Tx) && __is_arithmetic(Ty) && (!__is_same(Tx, Ty) || __is_integral(Tx))>::type = 0>      \
    GPUPROF_API double NAME(Tx x, Ty y)                                                                                                    \
    {                                                                                                                                      \
        return DOUBLE((double)x, (double)y);                                                                                               \
    }

// With --use_fast_math these functions of floats are their approximations (CUDA C++ Programming Guide, Intrinsic Functions;
// tanhf: nvcc 13.0). sm_70 has no instruction for tanhf.
#ifdef GPUPROF_FAST_MATH
#define GPUPROF_FASTER(NAME) ::__##NAME##f
#else
#define GPUPROF_FASTER(NAME) gpuprof_math::NAME
#endif

#define GPUPROF_APPROXIMATED(NAME) GPUPROF_UNARY(NAME, GPUPROF_FASTER(NAME), gpuprof_math::NAME)
GPUPROF_APPROXIMATED(exp)
GPUPROF_APPROXIMATED(exp10)
GPUPROF_APPROXIMATED(log)
GPUPROF_APPROXIMATED(log2)
GPUPROF_APPROXIMATED(log10)
GPUPROF_APPROXIMATED(sin)
GPUPROF_APPROXIMATED(cos)
GPUPROF_APPROXIMATED(tan)

#define GPUPROF_ALGORITHM(NAME) GPUPROF_UNARY(NAME, gpuprof_math::NAME, gpuprof_math::NAME)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
GPUPROF_APPROXIMATED(tanh)
#else
GPUPROF_ALGORITHM(tanh)
#endif
#undef GPUPROF_APPROXIMATED
GPUPROF_ALGORITHM(exp2)
GPUPROF_ALGORITHM(expm1)
GPUPROF_ALGORITHM(log1p)
GPUPROF_ALGORITHM(sinpi)
GPUPROF_ALGORITHM(cospi)
GPUPROF_ALGORITHM(asin)
GPUPROF_ALGORITHM(acos)
GPUPROF_ALGORITHM(atan)
GPUPROF_ALGORITHM(sinh)
GPUPROF_ALGORITHM(cosh)
GPUPROF_ALGORITHM(asinh)
GPUPROF_ALGORITHM(acosh)
GPUPROF_ALGORITHM(atanh)
GPUPROF_ALGORITHM(cbrt)
GPUPROF_ALGORITHM(rsqrt)
GPUPROF_ALGORITHM(erf)
GPUPROF_ALGORITHM(erfc)
GPUPROF_ALGORITHM(normcdf)
GPUPROF_ALGORITHM(logb)
#undef GPUPROF_ALGORITHM

#define GPUPROF_SPECIAL(NAME)                                                                                                              \
    GPUPROF_API float NAME##f(float x) { return (float)gpuprof_math::NAME((double)x); }                                                    \
    GPUPROF_API float NAME(float x) { return (float)gpuprof_math::NAME((double)x); }                                                       \
    GPUPROF_API double NAME(double x) { return gpuprof_math::NAME(x); }
GPUPROF_SPECIAL(erfcx)
GPUPROF_SPECIAL(erfinv)
GPUPROF_SPECIAL(erfcinv)
GPUPROF_SPECIAL(normcdfinv)
GPUPROF_SPECIAL(lgamma)
GPUPROF_SPECIAL(tgamma)
GPUPROF_SPECIAL(cyl_bessel_i0)
GPUPROF_SPECIAL(cyl_bessel_i1)
GPUPROF_SPECIAL(j0)
GPUPROF_SPECIAL(j1)
GPUPROF_SPECIAL(y0)
GPUPROF_SPECIAL(y1)
#undef GPUPROF_SPECIAL

#define GPUPROF_OF_ORDER(NAME)                                                                                                             \
    GPUPROF_API float NAME##f(int n, float x) { return (float)gpuprof_math::NAME(n, (double)x); }                                          \
    GPUPROF_API float NAME(int n, float x) { return (float)gpuprof_math::NAME(n, (double)x); }                                             \
    GPUPROF_API double NAME(int n, double x) { return gpuprof_math::NAME(n, x); }
GPUPROF_OF_ORDER(jn)
GPUPROF_OF_ORDER(yn)
#undef GPUPROF_OF_ORDER

#define GPUPROF_INSTRUCTION(NAME) GPUPROF_UNARY(NAME, __builtin_##NAME##f, __builtin_##NAME)
GPUPROF_INSTRUCTION(sqrt)
GPUPROF_INSTRUCTION(fabs)
GPUPROF_INSTRUCTION(floor)
GPUPROF_INSTRUCTION(ceil)
GPUPROF_INSTRUCTION(trunc)
GPUPROF_INSTRUCTION(round)
GPUPROF_INSTRUCTION(rint)
GPUPROF_INSTRUCTION(nearbyint)
#undef GPUPROF_INSTRUCTION
#undef GPUPROF_UNARY

GPUPROF_BINARY(pow, GPUPROF_FASTER(pow), gpuprof_math::pow)
GPUPROF_BINARY(atan2, gpuprof_math::atan2, gpuprof_math::atan2)
GPUPROF_BINARY(hypot, gpuprof_math::hypot, gpuprof_math::hypot)
GPUPROF_BINARY(fmod, gpuprof_math::fmod, gpuprof_math::fmod)
GPUPROF_BINARY(remainder, gpuprof_math::remainder, gpuprof_math::remainder)
GPUPROF_BINARY(nextafter, gpuprof_math::nextafter, gpuprof_math::nextafter)
GPUPROF_BINARY(fdim, gpuprof_math::fdim, gpuprof_math::fdim)
GPUPROF_BINARY(copysign, __builtin_copysignf, __builtin_copysign)
GPUPROF_BINARY(fmin, __builtin_fminf, __builtin_fmin)
GPUPROF_BINARY(fmax, __builtin_fmaxf, __builtin_fmax)
#undef GPUPROF_BINARY

GPUPROF_API float abs(float x) { return __builtin_fabsf(x); }
GPUPROF_API double abs(double x) { return __builtin_fabs(x); }
GPUPROF_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
GPUPROF_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
GPUPROF_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
GPUPROF_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }
GPUPROF_BOTH double min(float a, double b) { return __builtin_fmin(a, b); }
GPUPROF_BOTH double min(double a, float b) { return __builtin_fmin(a, b); }
GPUPROF_BOTH double max(float a, double b) { return __builtin_fmax(a, b); }
GPUPROF_BOTH double max(double a, float b) { return __builtin_fmax(a, b); }

GPUPROF_API float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
GPUPROF_API float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
GPUPROF_API double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
GPUPROF_API float fdividef(float a, float b) { return a / b; }

#define GPUPROF_BOTH_PRECISIONS(T, F)                                                                                                      \
    GPUPROF_API T ldexp##F(T x, int n) { return gpuprof_math::ldexp(x, n); }                                                               \
    GPUPROF_API T scalbn##F(T x, int n) { return gpuprof_math::ldexp(x, n); }                                                              \
    GPUPROF_API T frexp##F(T x, int *exponent) { return gpuprof_math::frexp(x, exponent); }                                                \
    GPUPROF_API T modf##F(T x, T *whole) { return gpuprof_math::modf(x, whole); }                                                          \
    GPUPROF_API int ilogb##F(T x) { return gpuprof_math::ilogb(x); }                                                                       \
    GPUPROF_API void sincospi##F(T x, T *s, T *c)                                                                                          \
    {                                                                                                                                      \
        *s = gpuprof_math::sinpi(x);                                                                                                       \
        *c = gpuprof_math::cospi(x);                                                                                                       \
    }                                                                                                                                      \
    GPUPROF_API T rcbrt##F(T x) { return 1 / gpuprof_math::cbrt(x); }                                                                      \
    GPUPROF_API T rhypot##F(T x, T y) { return 1 / gpuprof_math::hypot(x, y); }                                                            \
    GPUPROF_API T norm3d##F(T x, T y, T z) { return gpuprof_math::hypot(gpuprof_math::hypot(x, y), z); }                                   \
    GPUPROF_API T rnorm3d##F(T x, T y, T z) { return 1 / norm3d##F(x, y, z); }                                                             \
    GPUPROF_API T norm4d##F(T x, T y, T z, T w) { return gpuprof_math::hypot(gpuprof_math::hypot(x, y), gpuprof_math::hypot(z, w)); }      \
    GPUPROF_API T rnorm4d##F(T x, T y, T z, T w) { return 1 / norm4d##F(x, y, z, w); }                                                     \
    GPUPROF_API T norm##F(int n, const T *v)                                                                                               \
    {                                                                                                                                      \
        T r = 0;                                                                                                                           \
        for (int i = 0; i < n; i++)                                                                                                        \
            r = gpuprof_math::hypot(r, v[i]);                                                                                              \
        return r;                                                                                                                          \
    }                                                                                                                                      \
    GPUPROF_API T rnorm##F(int n, const T *v) { return 1 / norm##F(n, v); }                                                                \
    GPUPROF_API T remquo##F(T x, T y, int *quotient) { return gpuprof_math::remquo(x, y, quotient); }                                      \
    GPUPROF_API T scalbln##F(T x, long n) { return gpuprof_math::ldexp(x, n > 10000 ? 10000 : n < -10000 ? -10000 : (int)n); }             \
    GPUPROF_API long lround##F(T x) { return (long)__builtin_elementwise_round(x); }                                                       \
    GPUPROF_API long long llround##F(T x) { return (long long)__builtin_elementwise_round(x); }                                            \
    GPUPROF_API long lrint##F(T x) { return (long)__builtin_elementwise_rint(x); }                                                         \
    GPUPROF_API long long llrint##F(T x) { return (long long)__builtin_elementwise_rint(x); }
GPUPROF_BOTH_PRECISIONS(float, f)
GPUPROF_BOTH_PRECISIONS(double, )
#undef GPUPROF_BOTH_PRECISIONS
GPUPROF_API void sincosf(float x, float *s, float *c) { GPUPROF_FASTER(sincos)(x, s, c); }
GPUPROF_API void sincos(double x, double *s, double *c) { gpuprof_math::sincos(x, s, c); }
#undef GPUPROF_FASTER

// The text, which may choose a payload, is not read: a NaN of the GPU has none.
GPUPROF_API double nan(const char *) { return __builtin_bit_cast(double, 0x7fffffffffffffffll); }
GPUPROF_API float nanf(const char *) { return __builtin_bit_cast(float, 0x7fffffff); }
GPUPROF_API void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
GPUPROF_API void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
GPUPROF_API float ldexp(float x, int n) { return gpuprof_math::ldexp(x, n); }
GPUPROF_API float scalbn(float x, int n) { return gpuprof_math::ldexp(x, n); }
GPUPROF_API float frexp(float x, int *exponent) { return gpuprof_math::frexp(x, exponent); }
GPUPROF_API float modf(float x, float *whole) { return gpuprof_math::modf(x, whole); }
GPUPROF_API int ilogb(float x) { return gpuprof_math::ilogb(x); }
GPUPROF_API long lround(float x) { return lroundf(x); }
GPUPROF_API long long llround(float x) { return llroundf(x); }
GPUPROF_API long lrint(float x) { return lrintf(x); }
GPUPROF_API long long llrint(float x) { return llrintf(x); }
GPUPROF_API float powif(float x, int n) { return gpuprof_math::pow(x, (float)n); }
GPUPROF_API double powi(double x, int n) { return gpuprof_math::pow(x, (double)n); }

#define GPUPROF_CLASSIFY(T, F)                                                                                                             \
    GPUPROF_API bool isnan(T x) { return __builtin_isnan(x); }                                                                             \
    GPUPROF_API bool isinf(T x) { return __builtin_isinf(x); }                                                                             \
    GPUPROF_API bool isfinite(T x) { return __builtin_isfinite(x); }                                                                       \
    GPUPROF_API bool isnormal(T x) { return __builtin_isnormal(x); }                                                                       \
    GPUPROF_API bool signbit(T x) { return __builtin_signbit(x); }
GPUPROF_CLASSIFY(float, f)
GPUPROF_CLASSIFY(double, )
#undef GPUPROF_CLASSIFY

// C++'s names for the same functions. libc++'s own, for the host, exist in addition.
namespace std {
inline namespace __1 {
using ::abs;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::cbrt;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::exp2;
using ::expm1;
using ::fabs;
using ::fdim;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::frexp;
using ::hypot;
using ::ilogb;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::isnormal;
using ::ldexp;
using ::lgamma;
using ::llrint;
using ::llround;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::logb;
using ::lrint;
using ::lround;
using ::modf;
using ::nearbyint;
using ::nextafter;
using ::pow;
using ::remainder;
using ::remquo;
using ::rint;
using ::round;
using ::scalbn;
using ::signbit;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
using ::tgamma;
using ::trunc;
} // namespace __1
} // namespace std
