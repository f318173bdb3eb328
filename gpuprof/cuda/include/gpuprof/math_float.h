// Single-precision functions, in the shape GPU libraries give them: fused multiply-adds, one or two instructions of the
// special-function unit, exact reductions, few branches. Errors are within what CUDA documents (see tests/compile/test_math.py).
//
// The polynomials interpolate, at Chebyshev nodes, the expression that their comment names; computed with 50 digits.
// The header compiles for the host too, where the tests run it against numpy.
#pragma once

#include "math_base.h"

namespace gpuprof_math {

// ------------------------------------------------------------------ exponentials

// 2^(whole + part) * 2^shift for |part| <= 1/2: two scalings, so that results can be subnormal or just below infinity.
GPUPROF_MATH float exp2_split(float whole, float part, int shift = 0)
{
    int n = (int)whole + shift;
    int half = n >> 1;
    return ex2(part) * power_of_two(half) * power_of_two(n - half);
}

// Beyond these the result is 0 or infinity anyhow; NaN passes through.
GPUPROF_MATH float clamp(float x, float low, float high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

GPUPROF_MATH float exp_scaled(float x, int shift)
{
    x = clamp(x, -105.0f, 90.0f);
    float n = __builtin_rintf(x * 0x1.715476p+0f);
    float f = fma(x, 0x1.715476p+0f, -n); // log2(e) in two parts
    return exp2_split(n, fma(x, 0x1.4ae0bep-26f, f), shift);
}

GPUPROF_MATH float exp(float x) { return exp_scaled(x, 0); }

GPUPROF_MATH float exp2(float x) { return ex2(x); }

GPUPROF_MATH float exp10(float x)
{
    x = clamp(x, -46.0f, 39.0f);
    float n = __builtin_rintf(x * 0x1.a934fp+1f);
    float f = fma(x, 0x1.a934fp+1f, -n); // log2(10) in two parts
    return exp2_split(n, fma(x, 0x1.2f346ep-24f, f));
}

GPUPROF_MATH float expm1(float x)
{
    float y = clamp(x, -105.0f, 90.0f);
    float n = __builtin_rintf(y * 0x1.715476p+0f);
    float r = fma(n, -0x1.62e43p-1f, y); // ln(2) in two parts
    r = fma(n, 0x1.05c61p-29f, r);
    // (expm1(r) - r - r^2/2) / r^3
    float p = GPUPROF_P5(r, 0x1.555556p-3f, 0x1.555516p-5f, 0x1.1110f6p-7f, 0x1.6d15f8p-10f, 0x1.a0fc64p-13f);
    float q = fma(r * r, fma(p, r, 0.5f), r);
    int half = ((int)n) >> 1;
    float s = power_of_two(half), t = power_of_two((int)n - half), whole = s * t;
    float result = n <= 10.0f ? fma(q, whole, whole - 1.0f) : n < 128.0f ? fma(q, whole, -1.0f) + whole : fma(q, s, s) * t;
    return x == 0.0f ? x : result; // keeps -0
}

// ------------------------------------------------------------------ logarithms

// ln(x) = f + tail + exponent * ln(2), with f exact
struct FloatLog {
    float f; // m - 1 for m in [sqrt(1/2), sqrt(2))
    float tail;
    float exponent;
};

GPUPROF_MATH FloatLog log_split(float x)
{
    bool small = x < 0x1p-126f;
    x = small ? x * 0x1p23f : x;
    int bits = as_int(x);
    int exponent = (bits - 0x3f3504f3) & 0xff800000;
    float f = as_float(bits - exponent) - 1.0f;
    // (log1p(f) - f + f^2/2) / f^3
    float p = GPUPROF_P9(f, 0x1.555554p-2f, -0x1.fffffcp-3f, 0x1.999d5ap-3f, -0x1.555b4ap-3f, 0x1.23d21ap-3f, -0x1.fcf4c6p-4f,
                         0x1.dea282p-4f, -0x1.d635bcp-4f, 0x1.1d8ea6p-4f);
    return {f, f * f * fma(p, f, -0.5f), (float)(exponent >> 23) - (small ? 23.0f : 0.0f)};
}

// What a logarithm is where the reduction does not reach: 0, negative numbers, infinity, NaN.
GPUPROF_MATH float log_special(float x, float result)
{
    if (!(x > 0.0f && x < infinity()))
        result = x == 0.0f ? -infinity() : x < 0.0f ? nan() : x;
    return result;
}

GPUPROF_MATH float log(float x)
{
    FloatLog s = log_split(x);
    return log_special(x, fma(s.exponent, 0x1.62e43p-1f, s.f + s.tail));
}

GPUPROF_MATH float log2(float x)
{
    FloatLog s = log_split(x);
    float low = fma(s.f, 0x1.4ae0cp-26f, s.tail * 0x1.715476p+0f);
    return log_special(x, fma(s.f, 0x1.715476p+0f, low) + s.exponent);
}

GPUPROF_MATH float log10(float x)
{
    FloatLog s = log_split(x);
    float low = fma(s.exponent, -0x1.ec10cp-27f, fma(s.f, -0x1.5b235ep-27f, s.tail * 0x1.bcb7b2p-2f));
    return log_special(x, fma(s.exponent, 0x1.344136p-2f, fma(s.f, 0x1.bcb7b2p-2f, low)));
}

GPUPROF_MATH float log1p(float x)
{
    float u = 1.0f + x;
    int exponent = (as_int(u) - 0x3f400000) & 0xff800000; // u / 2^e in [3/4, 3/2): less cancels than around sqrt(1/2)
    float scale = as_float(0x3f800000 - exponent);
    float f = x > 0x1p24f ? as_float(as_int(u) - exponent) - 1.0f : fma(scale, x, scale - 1.0f);
    // ln(1 + f) = 2 atanh(f / (2 + f))
    float q = f / (2.0f + f);
    float z = q * q;
    float p = GPUPROF_P4(z, 0x1.555556p-1f, 0x1.9999ecp-2f, 0x1.245c38p-2f, 0x1.ddd172p-3f);
    float r = fma(q, fma(z, p, -f), f); // f - q (f - z p) = 2 q + q z p
    float result = fma((float)(exponent >> 23), 0x1.62e43p-1f, r);
    if (!(x > -1.0f && x < infinity()))
        result = x == -1.0f ? -infinity() : x < -1.0f ? nan() : x;
    return x == 0.0f ? x : result;
}

// ------------------------------------------------------------------ trigonometry

struct FloatAngle {
    float r; // in [-pi/4, pi/4]
    int quadrant;
    float low = 0.0f; // what r lost to rounding, where it is known
};

// 2/pi as a binary fraction, 32 bits a word, after one word of zeros.
static GPUPROF_TABLE unsigned int two_over_pi[9] = {0u,          0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                                    0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u};

// Payne and Hanek: x * 2/pi modulo 4, from the 96 bits of 2/pi that matter for this exponent. |x| >= 2^16.
GPUPROF_MATH FloatAngle reduce_large(float x)
{
    unsigned int bits = as_int(x);
    unsigned int mantissa = (bits & 0x7fffff) | 0x800000; // |x| = mantissa * 2^(exponent - 23)
    int position = ((bits >> 23) & 255) - 127 + 7;         // the first bit of the table whose product is below 4
    int word = position >> 5, shift = position & 31;
    unsigned int high = __builtin_elementwise_fshl(two_over_pi[word], two_over_pi[word + 1], (unsigned int)shift);
    unsigned int middle = __builtin_elementwise_fshl(two_over_pi[word + 1], two_over_pi[word + 2], (unsigned int)shift);
    unsigned int low = __builtin_elementwise_fshl(two_over_pi[word + 2], two_over_pi[word + 3], (unsigned int)shift);
    unsigned long long window = (unsigned long long)high << 32 | middle;
    unsigned long long product = mantissa * window + ((unsigned long long)mantissa * low >> 32); // in units of 2^-62
    int quadrant = (int)((product + (1ull << 61)) >> 62);
    long long fraction = (long long)(product - ((unsigned long long)quadrant << 62));
    float r = (float)((double)fraction * 0x1.921fb54442d18p-62);
    return bits >> 31 ? FloatAngle{-r, -quadrant} : FloatAngle{r, quadrant};
}

GPUPROF_MATH FloatAngle reduce(float x)
{
    float n = __builtin_rintf(x * 0x1.45f306p-1f);
    float r = fma(n, -0x1.921fb6p+0f, x); // pi/2 in three parts
    r = fma(n, 0x1.777a5cp-25f, r);
    r = fma(n, 0x1.ee59dap-50f, r);
    if (__builtin_fabsf(x) > 105615.0f)
        return __builtin_fabsf(x) < infinity() ? reduce_large(x) : FloatAngle{nan(), 0};
    return {r, (int)n};
}

// (sin(r)/r - 1) / r^2
GPUPROF_MATH float sin_reduced(float r, float low)
{
    float z = r * r;
    float p = GPUPROF_P3(z, -0x1.555552p-3f, 0x1.110c26p-7f, -0x1.9ac856p-13f);
    return fma(p, z * r, low) + r;
}

// (cos(r) - 1 + r^2/2) / r^4
GPUPROF_MATH float cos_reduced(float r, float low)
{
    float z = r * r;
    float p = GPUPROF_P3(z, 0x1.555554p-5f, -0x1.6c12dp-10f, 0x1.9bd786p-16f);
    return fma(fma(p, z, -0.5f), z, low * -r) + 1.0f;
}

GPUPROF_MATH float sin_of(FloatAngle a)
{
    float y = a.quadrant & 1 ? cos_reduced(a.r, a.low) : sin_reduced(a.r, a.low);
    return a.quadrant & 2 ? -y : y;
}

GPUPROF_MATH float sin(float x) { return x == 0.0f ? x : sin_of(reduce(x)); }

GPUPROF_MATH float cos(float x)
{
    FloatAngle a = reduce(x);
    a.quadrant += 1;
    return sin_of(a);
}

GPUPROF_MATH void sincos(float x, float *s, float *c)
{
    FloatAngle a = reduce(x);
    *s = x == 0.0f ? x : sin_of(a);
    a.quadrant += 1;
    *c = sin_of(a);
}

GPUPROF_MATH float tan(float x)
{
    FloatAngle a = reduce(x);
    float z = a.r * a.r;
    // (tan(r)/r - 1) / r^2
    float p = GPUPROF_P7(z, 0x1.555556p-2f, 0x1.111086p-3f, 0x1.ba52fp-5f, 0x1.623852p-6f, 0x1.469570p-7f, 0x1.34e25ep-10f, 0x1.f8461cp-9f);
    float t = fma(p, z * a.r, a.r);
    return x == 0.0f ? x : a.quadrant & 1 ? -1.0f / t : t;
}

// Angles in units of pi: the reduction is exact.
GPUPROF_MATH FloatAngle reduce_pi(float x)
{
    x = __builtin_fabsf(x) < 0x1p24f ? x : x * 0.0f; // beyond, all numbers are even
    float n = __builtin_rintf(x + x);
    float r = fma(n, -0.5f, x);
    float angle = mul(r, 0x1.921fb6p+1f); // pi in two parts
    return {angle, (int)n, fma(r, -0x1.777a5cp-24f, fma(r, 0x1.921fb6p+1f, -angle))};
}

GPUPROF_MATH float sinpi(float x) { return x == __builtin_truncf(x) ? x * 0.0f : sin_of(reduce_pi(x)); }

GPUPROF_MATH float cospi(float x)
{
    FloatAngle a = reduce_pi(x);
    a.quadrant += 1;
    return sin_of(a);
}

GPUPROF_MATH float atan_reduced(float t) // |t| <= 1
{
    float z = t * t;
    // (atan(t)/t - 1) / t^2
    float p = GPUPROF_P9(z, -0x1.555554p-2f, 0x1.99983cp-3f, -0x1.246cd2p-3f, 0x1.c3f168p-4f, -0x1.6295f8p-4f, 0x1.0001c6p-4f,
                         -0x1.25dc12p-5f, 0x1.ba9f66p-7f, -0x1.38de56p-9f);
    return fma(p, z * t, t);
}

GPUPROF_MATH float atan(float x)
{
    float a = __builtin_fabsf(x);
    float y = atan_reduced(a > 1.0f ? 1.0f / a : a);
    return __builtin_copysignf(a > 1.0f ? 0x1.921fb6p+0f - y : y, x);
}

GPUPROF_MATH float atan2(float y, float x)
{
    float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
    float larger = a > b ? a : b, smaller = a > b ? b : a;
    float t = larger == 0.0f ? 0.0f : smaller == infinity() ? 1.0f : smaller / larger;
    float r = atan_reduced(t);
    r = b > a ? 0x1.921fb6p+0f - r : r;
    r = as_int(x) < 0 ? 0x1.921fb6p+1f - r : r;
    return x != x || y != y ? x + y : __builtin_copysignf(r, y);
}

// asin(x) for |x| <= 1/2: (asin(x)/x - 1) / x^2
GPUPROF_MATH float asin_reduced(float x, float z)
{
    float p = GPUPROF_P6(z, 0x1.555554p-3f, 0x1.333430p-4f, 0x1.6d5bbap-5f, 0x1.fd8da2p-6f, 0x1.18f91ep-6f, 0x1.13fed4p-5f);
    return fma(p, z * x, x);
}

GPUPROF_MATH float asin(float x)
{
    float a = __builtin_fabsf(x);
    float z = fma(a, -0.5f, 0.5f);
    float y = a > 0.5f ? fma(asin_reduced(__builtin_sqrtf(z), z), -2.0f, 0x1.921fb6p+0f) - 0x1.777a5cp-25f : asin_reduced(a, a * a);
    return __builtin_copysignf(y, x);
}

GPUPROF_MATH float acos(float x)
{
    float a = __builtin_fabsf(x);
    float z = fma(a, -0.5f, 0.5f);
    if (a > 0.5f) {
        float y = 2.0f * asin_reduced(__builtin_sqrtf(z), z);
        return x > 0.0f ? y : 0x1.921fb6p+1f - y;
    }
    return 0x1.921fb6p+0f - fma(asin_reduced(x, x * x), 1.0f, 0x1.777a5cp-25f);
}

// ------------------------------------------------------------------ hyperbolic functions

GPUPROF_MATH float sinh(float x)
{
    float a = __builtin_fabsf(x);
    float z = a * a;
    if (a < 1.0f) { // (sinh(x)/x - 1) / x^2
        float p = GPUPROF_P4(z, 0x1.555556p-3f, 0x1.11111ep-7f, 0x1.a009p-13f, 0x1.78a70ep-19f);
        return fma(p, z * x, x);
    }
    float h = exp_scaled(a, -1);
    return __builtin_copysignf(h - 0.25f / h, x);
}

GPUPROF_MATH float cosh(float x)
{
    float h = exp_scaled(__builtin_fabsf(x), -1);
    return h + 0.25f / h;
}

GPUPROF_MATH float tanh(float x)
{
    float a = __builtin_fabsf(x);
    if (a < 0.55f) { // (tanh(x)/x - 1) / x^2
        float z = a * a;
        float p = GPUPROF_P5(z, -0x1.555554p-2f, 0x1.110feap-3f, -0x1.b9a044p-5f, 0x1.5d220ep-6f, -0x1.b13538p-8f);
        return __builtin_copysignf(fma(p, z * a, a), x);
    }
    return __builtin_copysignf(fma(-2.0f, 1.0f / (exp(a + a) + 1.0f), 1.0f), x);
}

GPUPROF_MATH float asinh(float x)
{
    float a = __builtin_fabsf(x);
    float square = a * a;
    float small = log1p(a + square / (1.0f + __builtin_sqrtf(square + 1.0f)));
    float y = a > 0x1p60f ? log(a) + 0x1.62e43p-1f : small;
    return __builtin_copysignf(y, x);
}

GPUPROF_MATH float acosh(float x)
{
    float t = x - 1.0f;
    float y = x > 0x1p60f ? log(x) + 0x1.62e43p-1f : log1p(t + __builtin_sqrtf(fma(t, t, t + t)));
    return x < 1.0f ? nan() : y;
}

GPUPROF_MATH float atanh(float x)
{
    float a = __builtin_fabsf(x);
    float y = 0.5f * log1p((a + a) / (1.0f - a));
    return a > 1.0f ? nan() : __builtin_copysignf(y, x);
}

// ------------------------------------------------------------------ powers and roots

// |x|^y through log2(|x|) as a sum of two floats, so that y can multiply it without losing bits.
GPUPROF_MATH float pow_positive(float a, float y)
{
    bool small = a < 0x1p-126f;
    float scaled = small ? a * 0x1p24f : a;
    int exponent = (as_int(scaled) - 0x3f3504f3) & 0xff800000; // m in [sqrt(1/2), sqrt(2))
    float m = as_float(as_int(scaled) - exponent);
    float e = (float)(exponent >> 23) - (small ? 24.0f : 0.0f);

    // ln(m) = 2 q + 2/3 q^3 ..., q = (m - 1) / (m + 1) with its rounding error
    float b = add(m, 1.0f), b_low = add(m, -add(b, -1.0f));
    float q = (m - 1.0f) / b;
    float q_low = fma(-q, b_low, fma(-q, b, m - 1.0f)) / b;
    float z = q * q;
    float p = GPUPROF_P4(z, 0x1.555556p-1f, 0x1.9999ecp-2f, 0x1.245c38p-2f, 0x1.ddd172p-3f);
    float tail = fma(p, z * q, q_low + q_low);
    float high = q + q;

    // times log2(e), plus the exponent
    float l = mul(high, 0x1.715476p+0f);
    float l_low = fma(high, 0x1.715476p+0f, -l);
    l_low = fma(high, 0x1.4ae0cp-26f, fma(tail, 0x1.715476p+0f, l_low));
    float sum = add(e, l);
    float sum_low = add(add(e, -sum), l) + l_low; // |e| >= |l|, or e = 0

    float t = mul(y, sum);
    float t_low = fma(y, sum_low, fma(y, sum, -t));
    if (!(__builtin_fabsf(t) < 250.0f)) // what `exp2_split` can scale by
        return t < 0.0f ? 0.0f : infinity();
    float n = __builtin_rintf(t);
    return exp2_split(n, (t - n) + t_low);
}

GPUPROF_MATH float pow(float x, float y)
{
    float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
    bool whole = b == __builtin_truncf(b);
    bool odd = whole && b < 0x1p24f && ((int)b & 1);
    if (x == 1.0f || y == 0.0f)
        return 1.0f;
    if (x != x || y != y)
        return x + y;
    float result;
    if (b == infinity())
        result = a == 1.0f ? 1.0f : (a > 1.0f) == (y > 0.0f) ? infinity() : 0.0f;
    else if (a == 0.0f || a == infinity())
        result = (a == 0.0f) == (y < 0.0f) ? infinity() : 0.0f;
    else if (x < 0.0f && !whole)
        return nan();
    else
        result = pow_positive(a, y);
    return as_int(x) < 0 && odd ? -result : result;
}

GPUPROF_MATH float cbrt(float x)
{
    float a = __builtin_fabsf(x);
    float t = ex2(lg2(a) * 0x1.555556p-2f);
    t = fma(fma(a / (t * t), -1.0f, t), -0x1.555556p-2f, t); // one step of Newton's
    return a == 0.0f || !(a < infinity()) ? x : __builtin_copysignf(t, x);
}

GPUPROF_MATH float hypot(float x, float y)
{
    float a = __builtin_fabsf(x), b = __builtin_fabsf(y);
    float larger = a > b ? a : b, smaller = a > b ? b : a;
    float up = larger > 0x1p60f ? 0x1p-100f : larger < 0x1p-50f ? 0x1p100f : 1.0f;
    float down = larger > 0x1p60f ? 0x1p100f : larger < 0x1p-50f ? 0x1p-100f : 1.0f;
    float u = larger * up, v = smaller * up;
    float r = __builtin_sqrtf(fma(u, u, v * v)) * down;
    return a == infinity() || b == infinity() ? infinity() : x != x || y != y ? nan() : r;
}

GPUPROF_MATH float rsqrt(float x) { return reciprocal_root(x); }

// ------------------------------------------------------------------ error functions

GPUPROF_MATH float erf_small(float x) // |x| < 1
{
    float z = x * x;
    // erf(x) / x - 1
    float p = GPUPROF_P8(z, 0x1.06eba8p-3f, -0x1.812746p-2f, 0x1.ce2f08p-4f, -0x1.b829c8p-6f, 0x1.562a6p-8f, -0x1.bccf66p-11f, 0x1.d8875p-14f,
                         -0x1.445f48p-17f);
    return fma(p, x, x);
}

GPUPROF_MATH float erfc_positive(float a)
{
    // exp(x^2) erfc(x) (1 + 2 x) in t = (x - 4) / (x + 4), for x in [0, 11]
    float t = (a - 4.0f) / (a + 4.0f);
    float p = GPUPROF_P11(t, 0x1.3ba592p+0f, -0x1.1df194p-3f, 0x1.f7e498p-7f, 0x1.16e3dcp-4f, -0x1.9db3acp-4f, 0x1.8077p-4f, -0x1.106c24p-4f,
                          0x1.2a0dacp-5f, -0x1.0aef1ap-6f, 0x1.b0681cp-8f, 0x1.8576acp-11f);
    float square = mul(a, a);
    float square_low = fma(a, a, -square);
    float e = exp(-square);
    return fma(e, -square_low, e) * (p / fma(2.0f, a, 1.0f));
}

GPUPROF_MATH float erf(float x)
{
    float a = __builtin_fabsf(x);
    if (a < 1.0f)
        return erf_small(x);
    // -log2(erfc(x)) / x on [1, 4]
    float y = a > 4.0f ? 4.0f : a;
    float p = GPUPROF_P9(y, 0x1.a0e222p+0f, 0x1.d4de6ap-1f, 0x1.3b8fe0p-3f, -0x1.1d495ap-5f, 0x1.60e844p-8f, -0x1.c2358ap-12f,
                         -0x1.9916aep-17f, 0x1.840e8ep-18f, -0x1.88fa04p-22f);
    return x != x ? x : __builtin_copysignf(1.0f - ex2(-p * y), x);
}

GPUPROF_MATH float erfc(float x)
{
    float a = __builtin_fabsf(x);
    if (a < 0.5f)
        return 1.0f - erf_small(x);
    float y = a > 10.5f ? 0.0f : erfc_positive(a);
    return x != x ? x : x < 0.0f ? 2.0f - y : y;
}

GPUPROF_MATH float normcdf(float x) { return 0.5f * erfc(x * -0x1.6a09e6p-1f); }

} // namespace gpuprof_math
