// The rarer special functions. Computed in double precision for both types: few kernels spend their time here.
#pragma once

#include "math_double.h"
#include "math_exact.h"

namespace gpuprof_math {

// exp(x^2) erfc(x)
GPUPROF_MATH double erfcx(double x)
{
    if (x > 28.0) { // asymptotic series, DLMF 7.12.1
        double r = 0.5 / (x * x);
        return 0x1.20dd750429b6dp-1 / x * (1.0 + r * (-1.0 + r * (3.0 + r * (-15.0 + r * 105.0))));
    }
    if (x >= 0.5)
        return erfc_scaled(x);
    double square = mul(x, x), square_low = fma(x, x, -square), e = exp(square);
    return x != x ? x : fma(e, square_low, e) * erfc(x);
}

// A first guess at the inverse of erf for w = -ln(1 - x^2) below 5, to single precision: M. Giles, "Approximating the erfinv function".
GPUPROF_MATH double erfinv_guess(double x, double w)
{
    w -= 2.5;
    return x * GPUPROF_P9(w, 1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06, -3.5233877e-06,
                          3.43273939e-07, 2.81022636e-08);
}

// The inverse of erfc for y in [0, 1]: Halley's steps, each of which triples the digits, or for small y Newton's on ln(erfc(z)), which
// is close to a parabola there; its guess is from erfc(z) ~ exp(-z^2) / (z sqrt(pi)).
GPUPROF_MATH double erfcinv_lower(double y)
{
    if (y <= 0.0)
        return y == 0.0 ? (double)infinity() : (double)nan();
    double target = log(y), w = -log(y * (2.0 - y));
    if (w >= 5.0) {
        double z = __builtin_sqrt(-target - 0.5 * log(-3.14159265 * target));
        for (int i = 0; i < 5; i++) {
            double scaled = erfcx(z);
            z += (log(scaled) - fma(z, z, target)) * scaled * 0x1.c5bf891b4ef6ap-1;
        }
        return z;
    }
    double z = erfinv_guess(1.0 - y, w);
    for (int i = 0; i < 3; i++) {
        double t = (erfcx(z) - y * exp(z * z)) * 0x1.c5bf891b4ef6ap-1;
        z += t / fma(z, t, 1.0);
    }
    return z;
}

GPUPROF_MATH double erfcinv(double y) { return y > 1.0 ? -erfcinv_lower(2.0 - y) : y == y ? erfcinv_lower(y) : y; }

GPUPROF_MATH double erfinv(double x)
{
    double a = __builtin_fabs(x);
    if (!(a < 0.5))
        return __builtin_copysign(erfcinv_lower(1.0 - a), x);
    double z = erfinv_guess(x, -log1p(-x * x));
    for (int i = 0; i < 2; i++) {
        double t = (erf(z) - x) * 0x1.c5bf891b4ef6ap-1 * exp(z * z);
        z -= t / fma(z, t, 1.0);
    }
    return x == 0.0 ? x : z;
}

GPUPROF_MATH double normcdfinv(double y) { return -0x1.6a09e667f3bcdp+0 * erfcinv(2.0 * y); }

// ln(gamma(x)) - ((x - 1/2) ln(x) - x + ln(2 pi) / 2) for x >= 10: DLMF 5.11.1
GPUPROF_MATH double stirling(double x)
{
    double r = 1.0 / (x * x);
    return GPUPROF_P8(r, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156, -3617.0 / 122400) / x;
}

GPUPROF_MATH double lgamma_positive(double x)
{
    double product = 1.0;
    for (; x < 10.0; x += 1.0)
        product *= x;
    return fma(x - 0.5, log(x), -x) + 0x1.d67f1c864beb5p-1 + stirling(x) - log(product);
}

GPUPROF_MATH double lgamma(double x)
{
    if (!(__builtin_fabs(x) < (double)infinity()))
        return x * x;
    if (x > 0.0)
        return lgamma_positive(x);
    double s = sinpi(x);
    return s == 0.0 ? (double)infinity() : log(0x1.921fb54442d18p+1 / __builtin_fabs(s)) - lgamma_positive(1.0 - x);
}

GPUPROF_MATH double tgamma_positive(double x)
{
    if (x > 172.0)
        return (double)infinity();
    double product = 1.0;
    for (; x < 10.0; x += 1.0)
        product *= x;
    double root = pow(x, 0.5 * (x - 0.5)); // the whole power would overflow before its product with e^-x
    return root * (exp(-x + stirling(x)) * 0x1.40d931ff62706p+1) * root / product;
}

GPUPROF_MATH double tgamma(double x)
{
    if (x > 0.0 || x != x)
        return x != x ? x : tgamma_positive(x);
    if (x == 0.0)
        return 1.0 / x;
    double s = sinpi(x);
    return s == 0.0 || x == -(double)infinity() ? (double)nan() : 0x1.921fb54442d18p+1 / (s * tgamma_positive(1.0 - x));
}

// Modified Bessel functions of order n, 0 or 1: the power series (DLMF 10.25.2), from 30 on the asymptotic one (DLMF 10.40.1).
GPUPROF_MATH double bessel_i(int n, double x)
{
    double a = __builtin_fabs(x), term = 1.0, sum = 1.0;
    if (a <= 30.0) {
        double quarter = 0.25 * a * a;
        for (int k = 1; k < 200 && term > sum * 0x1p-56; k++) {
            term *= quarter / ((double)k * (k + n));
            sum += term;
        }
        return n ? 0.5 * x * sum : sum;
    }
    for (int k = 1; k < 30 && __builtin_fabs(term) > 0x1p-56; k++) {
        double odd = 2 * k - 1;
        term *= (odd * odd - 4 * n * n) / (8.0 * k * a);
        sum += term;
    }
    double half = exp(0.5 * a), value = half / __builtin_sqrt(0x1.921fb54442d18p+2 * a) * sum * half;
    return n ? __builtin_copysign(value, x) : value;
}

GPUPROF_MATH double cyl_bessel_i0(double x) { return bessel_i(0, x); }
GPUPROF_MATH double cyl_bessel_i1(double x) { return bessel_i(1, x); }

} // namespace gpuprof_math
