// Bessel functions of the first and second kind, of integer orders. Computed in double precision for both types: few kernels spend their
// time here. By power series for small x, by recurrence from an order that hardly matters, and by Hankel's expansion for large x.
#pragma once

#include "math_double.h"
#include "math_exact.h"

namespace gpuprof_math {

#define GPUPROF_TWO_BY_PI 0x1.45f306dc9c883p-1
#define GPUPROF_EULER 0x1.2788cfc6fb619p-1

constexpr double BESSEL_SMALL = 4.0, BESSEL_LARGE = 25.0;

// Orders 0 and 1 of both kinds.
struct Bessel {
    double j[2], y[2];
};

// x from 0 to BESSEL_SMALL: DLMF 10.2.2 and 10.8.1.
GPUPROF_MATH Bessel bessel_series(double x)
{
    double minus = -0.25 * x * x, term = 1.0, harmonic = 0.0;
    double j0 = 0.0, j1 = 0.0, y0 = 0.0, y1 = 0.0;
    for (int k = 0; k < 24; k++) {
        double next = term / (k + 1), further = harmonic + 1.0 / (k + 1);
        j0 += term;
        j1 += next;
        y0 += term * harmonic;
        y1 += next * (harmonic + further - 2.0 * GPUPROF_EULER);
        term = next * minus / (k + 1);
        harmonic = further;
    }
    j1 *= 0.5 * x;
    double ln = log(0.5 * x);
    return {{j0, j1},
            {GPUPROF_TWO_BY_PI * ((ln + GPUPROF_EULER) * j0 - y0), GPUPROF_TWO_BY_PI * (ln * j1 - 1.0 / x) - 0.25 * GPUPROF_TWO_BY_PI * x * y1}};
}

// x from BESSEL_SMALL to BESSEL_LARGE: downward recurrence, DLMF 3.6(v), and Neumann's series of Y0, whose derivative is -Y1.
GPUPROF_MATH Bessel bessel_recurrence(double x)
{
    double above = 0.0, here = 0x1p-200, sum = 0.0, y0 = 0.0, y1 = 0.0;
    for (int k = 2 * (int)(0.5 * x) + 50; k > 0; k--) { // `here` is of order k
        int half = k / 2;
        double sign = half % 2 ? -1.0 : 1.0;
        if (k % 2 == 0) {
            sum += 2.0 * here;
            y0 += sign * here / half;
        } else if (k > 1)
            y1 += sign * here * k / ((double)half * (half + 1));
        double below = 2.0 * k / x * here - above;
        above = here;
        here = below;
    }
    double scale = 1.0 / (sum + here), j0 = here * scale, j1 = above * scale, ln = log(0.5 * x) + GPUPROF_EULER;
    return {{j0, j1}, {GPUPROF_TWO_BY_PI * (ln * j0 - 2.0 * scale * y0), GPUPROF_TWO_BY_PI * ((ln - 1.0) * j1 - j0 / x - scale * y1)}};
}

// x from BESSEL_LARGE on: DLMF 10.17.3 and 10.17.4.
GPUPROF_MATH void bessel_hankel(int n, double x, double *j, double *y)
{
    double term = 1.0, sums[2] = {1.0, 0.0}; // P and Q
    for (int k = 1; k < 40 && __builtin_fabs(term) > 0x1p-58; k++) {
        double odd = 2 * k - 1;
        term *= (4 * n * n - odd * odd) / (8.0 * k * x);
        sums[k % 2] += k % 4 < 2 ? term : -term;
    }
    double s = sin(x), c = cos(x), scale = __builtin_sqrt(0.5 * GPUPROF_TWO_BY_PI / x);
    double cosine = n ? s - c : c + s, sine = n ? -s - c : s - c; // times the root of 2, of x - (n / 2 + 1 / 4) pi
    *j = scale * (sums[0] * cosine - sums[1] * sine);
    *y = scale * (sums[0] * sine + sums[1] * cosine);
}

GPUPROF_MATH Bessel bessel(double x)
{
    if (x <= BESSEL_SMALL)
        return bessel_series(x);
    if (x <= BESSEL_LARGE)
        return bessel_recurrence(x);
    Bessel found = {};
    if (x < (double)infinity()) {
        bessel_hankel(0, x, &found.j[0], &found.y[0]);
        bessel_hankel(1, x, &found.j[1], &found.y[1]);
    }
    return found;
}

// x at most as large as the order: the series where its terms fall, else the downward recurrence, scaled on its way.
GPUPROF_MATH double bessel_j_above(int n, double x)
{
    if (x * x <= 4.0 * (n + 1)) {
        double half = 0.5 * x, term = 1.0, sum = 0.0;
        for (int k = 1; k <= n && term != 0.0; k++)
            term *= half / k;
        for (int k = 1; k < 40; k++) {
            sum += term;
            term *= -half * half / ((double)k * (k + n));
        }
        return sum;
    }
    double above = 0.0, here = 0x1p-500, sum = 0.0, wanted = 0.0;
    for (int k = 2 * ((n + (int)__builtin_sqrt(40.0 * n)) / 2) + 50; k > 0; k--) {
        if (k % 2 == 0)
            sum += 2.0 * here;
        if (k == n)
            wanted = here;
        double below = 2.0 * k / x * here - above;
        above = here;
        here = below;
        if (__builtin_fabs(here) > 0x1p500) {
            above *= 0x1p-1000;
            here *= 0x1p-1000;
            sum *= 0x1p-1000;
            wanted *= 0x1p-1000;
        }
    }
    return wanted / (sum + here);
}

// From orders 0 and 1 to n: DLMF 10.6.1.
GPUPROF_MATH double bessel_upward(int n, double x, double below, double here)
{
    for (int k = 1; k < n && here > -(double)infinity(); k++) {
        double above = 2.0 * k / x * here - below;
        below = here;
        here = above;
    }
    return here;
}

// As CUDA has them: NaN for orders below 0, and of the second kind for x below 0, where it is minus infinity at 0.
GPUPROF_MATH double jn(int n, double x)
{
    double a = __builtin_fabs(x);
    if (n < 0 || x != x)
        return (double)nan();
    if (a == (double)infinity())
        return 0.0;
    double value = 0.0;
    if (n < 2)
        value = bessel(a).j[n];
    else if (n >= a)
        value = bessel_j_above(n, a);
    else {
        Bessel low = bessel(a);
        value = bessel_upward(n, a, low.j[0], low.j[1]);
    }
    return n % 2 && x < 0.0 ? -value : value;
}

GPUPROF_MATH double yn(int n, double x)
{
    if (n < 0 || x < 0.0 || x != x)
        return (double)nan();
    if (x == 0.0)
        return -(double)infinity();
    if (x == (double)infinity())
        return 0.0;
    Bessel low = bessel(x);
    return n < 2 ? low.y[n] : bessel_upward(n, x, low.y[0], low.y[1]);
}

GPUPROF_MATH double j0(double x) { return jn(0, x); }
GPUPROF_MATH double j1(double x) { return x == 0.0 ? x : jn(1, x); }
GPUPROF_MATH double y0(double x) { return yn(0, x); }
GPUPROF_MATH double y1(double x) { return yn(1, x); }

#undef GPUPROF_TWO_BY_PI
#undef GPUPROF_EULER

} // namespace gpuprof_math
