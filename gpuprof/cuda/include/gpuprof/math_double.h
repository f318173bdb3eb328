// Double-precision functions. See math_float.h, whose shape they share.
#pragma once

#include "math_base.h"

namespace gpuprof_math {

GPUPROF_MATH double clamp(double x, double low, double high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

// x * 2^n in two steps, so that results can be subnormal or just below infinity.
GPUPROF_MATH double scale_by(double x, int n)
{
    int half = n >> 1;
    return x * power_of_two_double(half) * power_of_two_double(n - half);
}

// ------------------------------------------------------------------ exponentials

// e^(r + low) * 2^n for |r| <= ln(2)/2; the polynomial is (expm1(r) - r) / r^2
GPUPROF_MATH double exp_reduced(double r, double low, int n)
{
    double sum = add(r, low);
    low = add(add(r, -sum), low);
    r = sum;
    double p = GPUPROF_P11(r, 
        0x1p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5, 0x1.11111111100d3p-7, 0x1.6c16c16c1630bp-10, 0x1.a01a01abeccc3p-13,
        0x1.a01a01a6c9949p-16, 0x1.71de02225a2f3p-19, 0x1.27e4db8088efap-22, 0x1.af4e092e1705bp-26, 0x1.1f72ddb2fde6p-29);
    return scale_by(1.0 + (r + fma(p, r * r, low)), n);
}

GPUPROF_MATH double exp_scaled(double x, int shift)
{
    x = clamp(x, -746.0, 711.0);
    double n = __builtin_rint(x * 0x1.71547652b82fep+0);
    double r = fma(n, -0x1.62e42fefa39efp-1, x); // ln(2) in two parts
    return exp_reduced(fma(n, -0x1.abc9e3b39803fp-56, r), 0.0, (int)n + shift);
}

GPUPROF_MATH double exp(double x) { return exp_scaled(x, 0); }

GPUPROF_MATH double exp2(double x)
{
    x = clamp(x, -1076.0, 1025.0);
    double n = __builtin_rint(x);
    double f = x - n;
    double r = mul(f, 0x1.62e42fefa39efp-1);
    return exp_reduced(r, fma(f, 0x1.abc9e3b39803fp-56, fma(f, 0x1.62e42fefa39efp-1, -r)), (int)n);
}

GPUPROF_MATH double exp10(double x)
{
    x = clamp(x, -324.0, 309.0);
    double n = __builtin_rint(x * 0x1.a934f0979a371p+1);
    double f = fma(n, -0x1.34413509f79ffp-2, x); // log10(2) in two parts
    double f_low = n * 0x1.9dc1da994fd21p-59;
    double r = mul(f, 0x1.26bb1bbb55516p+1); // ln(10) in two parts
    double low = fma(f, -0x1.f48ad494ea3e9p-53, fma(f, 0x1.26bb1bbb55516p+1, -r));
    return exp_reduced(r, fma(f_low, 0x1.26bb1bbb55516p+1, low), (int)n);
}

GPUPROF_MATH double expm1(double x)
{
    double y = clamp(x, -746.0, 711.0);
    double n = __builtin_rint(y * 0x1.71547652b82fep+0);
    double r = fma(n, -0x1.62e42fefa39efp-1, y);
    r = fma(n, -0x1.abc9e3b39803fp-56, r);
    // (expm1(r) - r - r^2/2) / r^3
    double p = GPUPROF_P10(r, 
        0x1.5555555555556p-3, 0x1.5555555555555p-5, 0x1.11111111109afp-7, 0x1.6c16c16c167dfp-10, 0x1.a01a01a7c73cp-13,
        0x1.a01a01a47ccd9p-16, 0x1.71de0da24602dp-19, 0x1.27e4e1ed9933ep-22, 0x1.af38c67fbb53ep-26, 0x1.1f66eff4fc984p-29);
    double q = fma(r * r, fma(p, r, 0.5), r);
    int half = ((int)n) >> 1;
    double s = power_of_two_double(half), t = power_of_two_double((int)n - half), whole = s * t;
    double result = n <= 10.0 ? fma(q, whole, whole - 1.0) : n < 1024.0 ? fma(q, whole, -1.0) + whole : fma(q, s, s) * t;
    return x == 0.0 ? x : result; // keeps -0
}

// ------------------------------------------------------------------ logarithms

// ln(x) = f + tail + exponent * ln(2), with f exact
struct DoubleLog {
    double f; // m - 1 for m in [sqrt(1/2), sqrt(2))
    double tail;
    double exponent;
};

// ln(1 + f) - f = -(f^2/2 - s (f^2/2 + R)), s = f / (2 + f); the polynomial is (2 atanh(s)/s - 2) / s^2
GPUPROF_MATH double log1p_tail(double f)
{
    double s = f / (2.0 + f);
    double z = s * s;
    double p = GPUPROF_P8(z, 
        0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476ba1p-2, 0x1.c71c72017a15cp-3, 0x1.745cf8f6c9119p-3,
        0x1.3b1c38474d3eep-3, 0x1.0fbe478772696p-3, 0x1.0c06cf14c641bp-3);
    double half_square = 0.5 * f * f;
    return fma(s, fma(z, p, half_square), -half_square);
}

GPUPROF_MATH DoubleLog log_split(double x)
{
    bool small = x < 0x1p-1022;
    x = small ? x * 0x1p54 : x;
    long long bits = as_long(x);
    long long exponent = (bits - 0x3fe6a09e667f3bcdll) & (long long)0xfff0000000000000ull;
    double f = as_double(bits - exponent) - 1.0;
    return {f, log1p_tail(f), (double)(int)(exponent >> 52) - (small ? 54.0 : 0.0)};
}

GPUPROF_MATH double log_special(double x, double result)
{
    if (!(x > 0.0 && x < (double)infinity()))
        result = x == 0.0 ? -(double)infinity() : x < 0.0 ? (double)nan() : x;
    return result;
}

GPUPROF_MATH double log(double x)
{
    DoubleLog s = log_split(x);
    double low = fma(s.exponent, 0x1.abc9e3b39803fp-56, s.tail);
    return log_special(x, fma(s.exponent, 0x1.62e42fefa39efp-1, s.f + low));
}

GPUPROF_MATH double log2(double x)
{
    DoubleLog s = log_split(x);
    double low = fma(s.f, 0x1.777d0ffda0d24p-56, s.tail * 0x1.71547652b82fep+0);
    return log_special(x, fma(s.f, 0x1.71547652b82fep+0, low) + s.exponent);
}

GPUPROF_MATH double log10(double x)
{
    DoubleLog s = log_split(x);
    double low = fma(s.exponent, -0x1.9dc1da994fd21p-59, fma(s.f, 0x1.95355baaafad3p-57, s.tail * 0x1.bcb7b1526e50ep-2));
    return log_special(x, fma(s.exponent, 0x1.34413509f79ffp-2, fma(s.f, 0x1.bcb7b1526e50ep-2, low)));
}

GPUPROF_MATH double log1p(double x)
{
    double u = 1.0 + x;
    long long exponent = (as_long(u) - 0x3fe6a09e667f3bcdll) & (long long)0xfff0000000000000ull; // u / 2^e in [sqrt(1/2), sqrt(2))
    double scale = as_double(0x3ff0000000000000ll - exponent);
    double f = x > 0x1p53 ? as_double(as_long(u) - exponent) - 1.0 : fma(scale, x, scale - 1.0);
    double e = (double)(int)(exponent >> 52);
    double result = fma(e, 0x1.62e42fefa39efp-1, f + fma(e, 0x1.abc9e3b39803fp-56, log1p_tail(f)));
    if (!(x > -1.0 && x < (double)infinity()))
        result = x == -1.0 ? -(double)infinity() : x < -1.0 ? (double)nan() : x;
    return x == 0.0 ? x : result;
}

// ------------------------------------------------------------------ trigonometry

struct DoubleAngle {
    double r; // in [-pi/4, pi/4]
    int quadrant;
    double low; // what r lost to rounding
};

// 2/pi as a binary fraction, 64 bits a word, after one word of zeros.
static GPUPROF_TABLE unsigned long long two_over_pi_long[20] = {
    0ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull,
    0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull};

GPUPROF_MATH unsigned long long multiply_high(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}

GPUPROF_MATH unsigned long long window(const unsigned long long *words, int shift)
{
    return shift ? words[0] << shift | words[1] >> (64 - shift) : words[0];
}

// Payne and Hanek: x * 2/pi modulo 4, from the 192 bits of 2/pi that matter for this exponent.
GPUPROF_MATH DoubleAngle reduce_large(double x)
{
    unsigned long long bits = as_long(x);
    unsigned long long mantissa = (bits & 0xfffffffffffffull) | 0x10000000000000ull; // |x| = mantissa * 2^(exponent - 52)
    int position = (int)(bits >> 52 & 2047) - 1023 - 52 - 2 + 64; // the first bit of the table whose product is below 4
    const unsigned long long *words = two_over_pi_long + (position >> 6);
    unsigned long long a = window(words, position & 63), b = window(words + 1, position & 63), c = window(words + 2, position & 63);
    unsigned long long middle = mantissa * b;
    unsigned long long low = middle + multiply_high(mantissa, c);
    unsigned long long high = mantissa * a + multiply_high(mantissa, b) + (low < middle); // high:low in units of 2^-126
    int quadrant = (int)((high + (1ull << 61)) >> 62);
    double turn = (double)(long long)(high - ((unsigned long long)quadrant << 62)) * 0x1p-62;
    double exact = (double)low * 0x1p-126;
    double r = fma(turn, 0x1.921fb54442d18p+0, exact * 0x1.921fb54442d18p+0);
    return bits >> 63 ? DoubleAngle{-r, -quadrant, 0.0} : DoubleAngle{r, quadrant, 0.0};
}

GPUPROF_MATH DoubleAngle reduce(double x)
{
    double n = __builtin_rint(x * 0x1.45f306dc9c883p-1);
    double first = fma(n, -0x1.921fb54442d18p+0, x); // pi/2 in three parts
    double r = fma(n, -0x1.1a62633145c07p-54, first);
    double low = fma(n, -0x1.1a62633145c07p-54, add(first, -r));
    low = fma(n, 0x1.f1976b7ed8fbcp-110, low);
    if (__builtin_fabs(x) > 0x1p30)
        return __builtin_fabs(x) < (double)infinity() ? reduce_large(x) : DoubleAngle{(double)nan(), 0, 0.0};
    return {r, (int)n, low};
}

// (sin(r)/r - 1) / r^2
GPUPROF_MATH double sin_reduced(double r, double low)
{
    double z = r * r;
    double p = GPUPROF_P7(z, 
        -0x1.5555555555555p-3, 0x1.111111111111p-7, -0x1.a01a01a01992fp-13, 0x1.71de3a545f836p-19, -0x1.ae645410e937bp-26,
        0x1.61217d9252c03p-33, -0x1.ab16f5caa198ap-41);
    return fma(p, z * r, low) + r;
}

// (cos(r) - 1 + r^2/2) / r^4
GPUPROF_MATH double cos_reduced(double r, double low)
{
    double z = r * r;
    double p = GPUPROF_P6(z, 
        0x1.5555555555555p-5, -0x1.6c16c16c16963p-10, 0x1.a01a019f4ddfdp-16, -0x1.27e4fa16cc2d1p-22, 0x1.1eeb67d026ec6p-29,
        -0x1.907cd8ff5ede7p-37);
    double half = 0.5 * z, w = 1.0 - half;
    return w + fma(z * z, p, fma(-r, low, (1.0 - w) - half));
}

GPUPROF_MATH double sin_of(DoubleAngle a)
{
    double y = a.quadrant & 1 ? cos_reduced(a.r, a.low) : sin_reduced(a.r, a.low);
    return a.quadrant & 2 ? -y : y;
}

GPUPROF_MATH double sin(double x) { return x == 0.0 ? x : sin_of(reduce(x)); }

GPUPROF_MATH double cos(double x)
{
    DoubleAngle a = reduce(x);
    a.quadrant += 1;
    return sin_of(a);
}

GPUPROF_MATH void sincos(double x, double *s, double *c)
{
    DoubleAngle a = reduce(x);
    *s = x == 0.0 ? x : sin_of(a);
    a.quadrant += 1;
    *c = sin_of(a);
}

GPUPROF_MATH double tan(double x)
{
    DoubleAngle a = reduce(x);
    double s = sin_reduced(a.r, a.low), c = cos_reduced(a.r, a.low);
    return x == 0.0 ? x : a.quadrant & 1 ? -c / s : s / c;
}

GPUPROF_MATH DoubleAngle reduce_pi(double x)
{
    x = __builtin_fabs(x) < 0x1p53 ? x : x * 0.0; // beyond, all numbers are even
    double n = __builtin_rint(x + x);
    double r = fma(n, -0.5, x);
    double angle = mul(r, 0x1.921fb54442d18p+1); // pi in two parts
    return {angle, (int)(long long)n, fma(r, 0x1.1a62633145c07p-53, fma(r, 0x1.921fb54442d18p+1, -angle))};
}

GPUPROF_MATH double sinpi(double x) { return x == __builtin_trunc(x) ? x * 0.0 : sin_of(reduce_pi(x)); }

GPUPROF_MATH double cospi(double x)
{
    DoubleAngle a = reduce_pi(x);
    a.quadrant += 1;
    return sin_of(a);
}

// atan(n / d) for 0 <= n <= d: beyond tan(pi/8) the angle is measured from pi/4
GPUPROF_MATH double atan_ratio(double n, double d)
{
    bool far = n > 0x1.a827999fcef32p-2 * d;
    double t = far ? (n - d) / (n + d) : n / d;
    double z = t * t;
    // (atan(t)/t - 1) / t^2
    double p = GPUPROF_P12(z, 
        -0x1.5555555555555p-2, 0x1.9999999999953p-3, -0x1.249249248d768p-3, 0x1.c71c71c2fe5d9p-4, -0x1.745d165cb83aap-4,
        0x1.3b1392b641b06p-4, -0x1.110e858a72e28p-4, 0x1.e199da4156fd9p-5, -0x1.ac78ec6b8cb98p-5, 0x1.74d64aa665b0ap-5,
        -0x1.1b2058fb5da3p-5, 0x1.0aa87c56e3eb5p-6);
    double tail = p * z * t;
    return far ? 0x1.921fb54442d18p-1 + (t + (tail + 0x1.1a62633145c07p-55)) : t + tail;
}

GPUPROF_MATH double atan(double x)
{
    double a = __builtin_fabs(x);
    double y = a > 1.0 ? (0x1.921fb54442d18p+0 - atan_ratio(1.0, a)) + 0x1.1a62633145c07p-54 : atan_ratio(a, 1.0);
    return __builtin_copysign(a == (double)infinity() ? 0x1.921fb54442d18p+0 : y, x);
}

GPUPROF_MATH double atan2(double y, double x)
{
    double a = __builtin_fabs(x), b = __builtin_fabs(y);
    double larger = a > b ? a : b, smaller = a > b ? b : a;
    double up = larger > 0x1p1000 ? 0x1p-100 : larger < 0x1p-900 ? 0x1p100 : 1.0; // sums stay finite, products normal
    double r = larger == 0.0 ? 0.0 : smaller == (double)infinity() ? 0x1.921fb54442d18p-1 : atan_ratio(smaller * up, larger * up);
    r = larger == (double)infinity() && smaller != larger ? 0.0 : r;
    r = b > a ? (0x1.921fb54442d18p+0 - r) + 0x1.1a62633145c07p-54 : r;
    r = as_long(x) < 0 ? (0x1.921fb54442d18p+1 - r) + 0x1.1a62633145c07p-53 : r;
    return x != x || y != y ? x + y : __builtin_copysign(r, y);
}

// asin(x) - x for |x| <= 1/2: (asin(x)/x - 1) / x^2
GPUPROF_MATH double asin_tail(double x, double z)
{
    double p = GPUPROF_P14(z, 
        0x1.5555555555555p-3, 0x1.3333333333388p-4, 0x1.6db6db6dac1ep-5, 0x1.f1c71c7a52ba3p-6, 0x1.6e8ba123e494cp-6,
        0x1.1c4efce23019fp-6, 0x1.c990ad3d8fdcap-7, 0x1.7b027ee1dd585p-7, 0x1.3b49de7121487p-7, 0x1.31622469ce5adp-7,
        0x1.8f193743418ffp-9, 0x1.406192d124629p-6, -0x1.3b416bb7d9257p-6, 0x1.e529c6fce9bb4p-6);
    return p * z * x;
}

GPUPROF_MATH double asin(double x)
{
    double a = __builtin_fabs(x);
    double y = a + asin_tail(a, a * a);
    if (a > 0.5) {
        double z = fma(a, -0.5, 0.5), root = __builtin_sqrt(z);
        double root_low = fma(-root, root, z) / (root + root);
        double low = a == 1.0 ? 0.0 : root_low + asin_tail(root, z);
        y = fma(root, -2.0, 0x1.921fb54442d18p+0) + fma(low, -2.0, 0x1.1a62633145c07p-54);
    }
    return __builtin_copysign(y, x);
}

GPUPROF_MATH double acos(double x)
{
    double a = __builtin_fabs(x);
    if (!(a > 0.5))
        return 0x1.921fb54442d18p+0 - (x + (asin_tail(x, x * x) - 0x1.1a62633145c07p-54));
    double z = fma(a, -0.5, 0.5), root = __builtin_sqrt(z);
    double root_low = fma(-root, root, z) / (root + root);
    double y = 2.0 * (root + (root_low + asin_tail(root, z)));
    y = a == 1.0 ? 0.0 : y;
    return x > 0.0 ? y : (0x1.921fb54442d18p+1 - y) + 0x1.1a62633145c07p-53;
}

// ------------------------------------------------------------------ hyperbolic functions

GPUPROF_MATH double sinh(double x)
{
    double a = __builtin_fabs(x);
    double e = expm1(a);
    double h = exp_scaled(a, -1);
    return __builtin_copysign(a < 1.0 ? 0.5 * (e + e / (e + 1.0)) : h - 0.25 / h, x);
}

GPUPROF_MATH double cosh(double x)
{
    double h = exp_scaled(__builtin_fabs(x), -1);
    return h + 0.25 / h;
}

GPUPROF_MATH double tanh(double x)
{
    double a = __builtin_fabs(x);
    double e = expm1(-2.0 * a);
    double y = a > 20.0 ? 1.0 : -e / (e + 2.0);
    return x != x ? x : __builtin_copysign(y, x);
}

GPUPROF_MATH double asinh(double x)
{
    double a = __builtin_fabs(x);
    double square = a * a;
    double small = log1p(a + square / (1.0 + __builtin_sqrt(square + 1.0)));
    return __builtin_copysign(a > 0x1p500 ? log(a) + 0x1.62e42fefa39efp-1 : small, x);
}

GPUPROF_MATH double acosh(double x)
{
    double t = x - 1.0;
    double y = x > 0x1p500 ? log(x) + 0x1.62e42fefa39efp-1 : log1p(t + __builtin_sqrt(fma(t, t, t + t)));
    return x < 1.0 ? (double)nan() : y;
}

GPUPROF_MATH double atanh(double x)
{
    double a = __builtin_fabs(x);
    double y = 0.5 * log1p((a + a) / (1.0 - a));
    return a > 1.0 ? (double)nan() : __builtin_copysign(y, x);
}

// ------------------------------------------------------------------ powers and roots

// |x|^y through log2(|x|) as a sum of two doubles. The cubic term of the series, too, is a sum of two.
GPUPROF_MATH double pow_positive(double a, double y)
{
    bool small = a < 0x1p-1022;
    double scaled = small ? a * 0x1p54 : a;
    long long exponent = (as_long(scaled) - 0x3fe6a09e667f3bcdll) & (long long)0xfff0000000000000ull;
    double m = as_double(as_long(scaled) - exponent);
    double e = (double)(int)(exponent >> 52) - (small ? 54.0 : 0.0);

    // q = (m - 1) / (m + 1) with its rounding error
    double b = add(m, 1.0), b_low = add(m, -add(b, -1.0));
    double q = (m - 1.0) / b;
    double q_low = fma(-q, b_low, fma(-q, b, m - 1.0)) / b;
    // c = 2/3 q^3 as a sum
    double z = mul(q, q);
    double z_low = fma(q + q, q_low, fma(q, q, -z));
    double cube = mul(z, q);
    double cube_low = fma(z_low, q, fma(z, q_low, fma(z, q, -cube)));
    double c = mul(cube, 0x1.5555555555555p-1);
    double c_low = fma(cube_low, 0x1.5555555555555p-1, fma(cube, 0x1.5555555555555p-55, fma(cube, 0x1.5555555555555p-1, -c)));
    // ln(m) = 2 q + c + q^5 (2/5 + 2/7 q^2 ...)
    double p = GPUPROF_P7(z, 
        0x1.999999999999ep-2, 0x1.249249248e511p-2, 0x1.c71c71d7ef489p-3, 0x1.745d09ebc663ep-3, 0x1.3b18ba4163286p-3,
        0x1.10188237ff7e4p-3, 0x1.087aabe253d9cp-3);
    double tail = fma(p, z * cube, fma(2.0, q_low, c_low));
    double high = add(q + q, c);
    double low = add(add(q + q, -high), c) + tail;

    // times log2(e), plus the exponent
    double l = mul(high, 0x1.71547652b82fep+0);
    double l_low = fma(low, 0x1.71547652b82fep+0, fma(high, 0x1.777d0ffda0d24p-56, fma(high, 0x1.71547652b82fep+0, -l)));
    double sum = add(e, l);
    double sum_low = add(add(e, -sum), l) + l_low; // |e| >= |l|, or e = 0

    double t = mul(y, sum);
    double t_low = fma(y, sum_low, fma(y, sum, -t));
    if (!(__builtin_fabs(t) < 2000.0)) // what `scale_by` can
        return t < 0.0 ? 0.0 : (double)infinity();
    double n = __builtin_rint(t);
    double f = t - n;
    double r = mul(f, 0x1.62e42fefa39efp-1);
    double r_low = fma(f, 0x1.abc9e3b39803fp-56, fma(f, 0x1.62e42fefa39efp-1, -r));
    return exp_reduced(r, fma(t_low, 0x1.62e42fefa39efp-1, r_low), (int)n);
}

GPUPROF_MATH double pow(double x, double y)
{
    double a = __builtin_fabs(x), b = __builtin_fabs(y);
    bool whole = b == __builtin_trunc(b);
    bool odd = whole && b < 0x1p53 && ((long long)b & 1);
    if (x == 1.0 || y == 0.0)
        return 1.0;
    if (x != x || y != y)
        return x + y;
    double result;
    if (b == (double)infinity())
        result = a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? (double)infinity() : 0.0;
    else if (a == 0.0 || a == (double)infinity())
        result = (a == 0.0) == (y < 0.0) ? (double)infinity() : 0.0;
    else if (x < 0.0 && !whole)
        return (double)nan();
    else
        result = pow_positive(a, y);
    return as_long(x) < 0 && odd ? -result : result;
}

GPUPROF_MATH double cbrt(double x)
{
    double a = __builtin_fabs(x);
    bool small = a < 0x1p-1022;
    double scaled = small ? a * 0x1p54 : a;
    int exponent = (int)(as_long(scaled) >> 52) - 1023;
    int third = (exponent * 21846) >> 16; // floor(exponent / 3)
    double m = scaled * power_of_two_double(-3 * third / 2) * power_of_two_double(-3 * third - -3 * third / 2); // in [1, 8)
    double t = (double)ex2(lg2((float)m) * 0x1.555556p-2f);
    t = fma(fma(m / (t * t), -1.0, t), -0x1.5555555555555p-2, t); // two steps of Newton's
    t = fma(fma(m / (t * t), -1.0, t), -0x1.5555555555555p-2, t);
    double y = t * power_of_two_double(third - (small ? 18 : 0));
    return a == 0.0 || !(a < (double)infinity()) ? x : __builtin_copysign(y, x);
}

GPUPROF_MATH double hypot(double x, double y)
{
    double a = __builtin_fabs(x), b = __builtin_fabs(y);
    double larger = a > b ? a : b, smaller = a > b ? b : a;
    double up = larger > 0x1p500 ? 0x1p-600 : larger < 0x1p-450 ? 0x1p700 : 1.0;
    double down = larger > 0x1p500 ? 0x1p600 : larger < 0x1p-450 ? 0x1p-700 : 1.0;
    double u = larger * up, v = smaller * up;
    double r = __builtin_sqrt(fma(u, u, v * v)) * down;
    return a == (double)infinity() || b == (double)infinity() ? (double)infinity() : x != x || y != y ? (double)nan() : r;
}

GPUPROF_MATH double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

// ------------------------------------------------------------------ error functions

// erf(x) - x for |x| < 1; the polynomial is erf(x) / x - 1
GPUPROF_MATH double erf_tail(double x)
{
    double z = x * x;
    double p = GPUPROF_P14(z, 
        0x1.06eba8214db69p-3, -0x1.812746b0379e7p-2, 0x1.ce2f21a042bdep-4, -0x1.b82ce312889bap-6, 0x1.565bcd0e6502dp-8,
        -0x1.c02db3feeb579p-11, 0x1.f9a326c233146p-14, -0x1.f4d2561aeafd4p-17, 0x1.b9e6509b9867dp-20, -0x1.5f6d925a0bc7ap-23,
        0x1.fc4356498c2d9p-27, -0x1.4e607b41a6416p-30, 0x1.7f072188e194dp-34, -0x1.29b9f1b3df556p-38);
    return p * x;
}

// exp(x^2) erfc(x)
GPUPROF_MATH double erfc_scaled(double a)
{
    // exp(x^2) erfc(x) (1 + 2 x) in t = (x - 4) / (x + 4), for x in [1/2, 28]
    double t = (a - 4.0) / (a + 4.0);
    double p = GPUPROF_P12(t, 
        0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a28ep-3, 0x1.f7f5df66fd76dp-7, 0x1.16ecefcfa52b5p-4, -0x1.9ddb23c3e8ep-4,
        0x1.7fee004e14c37p-4, -0x1.0fb06dfe4e4f9p-4, 0x1.3079edf61e7a1p-5, -0x1.09623883f080cp-6, 0x1.49c672aa08182p-8,
        -0x1.8d4a9b1376eaep-11,
        GPUPROF_P12(t, -0x1.a1df44d0d357ap-13, 0x1.3be055036ec36p-13, -0x1.9954dbbbdf343p-16, -0x1.788966f85ff88p-17,
                    0x1.7ef4d531cf83p-18, 0x1.3abf792a3125dp-22, -0x1.b7f86449a0aa8p-21, 0x1.43dc50b7baccdp-24,
                    0x1.bb7be885c5a0bp-24, -0x1.3c396538d8d44p-26, -0x1.4ba5c49bc26a7p-27, 0x1.0eff5654f9fdp-29));
    return p / fma(2.0, a, 1.0);
}

GPUPROF_MATH double erfc_positive(double a)
{
    double square = mul(a, a);
    double square_low = fma(a, a, -square);
    double e = exp(-square);
    return fma(e, -square_low, e) * erfc_scaled(a);
}

GPUPROF_MATH double erf(double x)
{
    double a = __builtin_fabs(x);
    if (a < 1.0)
        return x + erf_tail(x);
    return x != x ? x : __builtin_copysign(a > 6.0 ? 1.0 : 1.0 - erfc_positive(a), x);
}

GPUPROF_MATH double erfc(double x)
{
    double a = __builtin_fabs(x);
    if (a < 0.5)
        return 1.0 - (x + erf_tail(x));
    double y = a > 27.3 ? 0.0 : erfc_positive(a);
    return x != x ? x : x < 0.0 ? 2.0 - y : y;
}

GPUPROF_MATH double normcdf(double x) { return 0.5 * erfc(x * -0x1.6a09e667f3bcdp-1); }

} // namespace gpuprof_math
