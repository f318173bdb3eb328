// Products and quotients of C's _Complex, which clang leaves to a library: those of the C standard's Annex G, with
// infinite results where the parts alone give NaN.
#pragma once

#include "functions.h"

namespace gpuprof_math {

GPUPROF_API float _Complex complex_of(float real, float imaginary)
{
    float _Complex made;
    __real__ made = real;
    __imag__ made = imaginary;
    return made;
}
GPUPROF_API double _Complex complex_of(double real, double imaginary)
{
    double _Complex made;
    __real__ made = real;
    __imag__ made = imaginary;
    return made;
}

// An infinite part as 1, a finite one as 0, with its sign.
template <typename T> GPUPROF_API T boxed(T x) { return ::copysign(::isinf(x) ? (T)1 : (T)0, x); }
template <typename T> GPUPROF_API T zero_for_nan(T x) { return ::isnan(x) ? ::copysign((T)0, x) : x; }

template <typename T> GPUPROF_API auto mul_complex(T a, T b, T c, T d)
{
    const T ac = a * c, bd = b * d, ad = a * d, bc = b * c;
    const T real = ac - bd, imaginary = ad + bc;
    if (!::isnan(real) || !::isnan(imaginary))
        return complex_of(real, imaginary);
    const bool left = ::isinf(a) || ::isinf(b), right = ::isinf(c) || ::isinf(d);
    const bool products = ::isinf(ac) || ::isinf(bd) || ::isinf(ad) || ::isinf(bc);
    if (!left && !right && !products)
        return complex_of(real, imaginary);
    if (left) {
        a = boxed(a);
        b = boxed(b);
    }
    if (right) {
        c = boxed(c);
        d = boxed(d);
    }
    a = zero_for_nan(a);
    b = zero_for_nan(b);
    c = zero_for_nan(c);
    d = zero_for_nan(d);
    const T infinite = (T)__builtin_inf();
    return complex_of(infinite * (a * c - b * d), infinite * (a * d + b * c));
}

template <typename T> GPUPROF_API auto div_complex(T a, T b, T c, T d)
{
    const T size = ::logb(::fmax(::fabs(c), ::fabs(d)));
    int scale = 0;
    if (::isfinite(size)) {
        scale = (int)size; // the divisor near 1: its square can neither overflow nor vanish
        c = ::scalbn(c, -scale);
        d = ::scalbn(d, -scale);
    }
    const T square = c * c + d * d;
    const T real = ::scalbn((a * c + b * d) / square, -scale), imaginary = ::scalbn((b * c - a * d) / square, -scale);
    if (!::isnan(real) || !::isnan(imaginary))
        return complex_of(real, imaginary);
    const T infinite = (T)__builtin_inf();
    if (square == 0 && (!::isnan(a) || !::isnan(b)))
        return complex_of(::copysign(infinite, c) * a, ::copysign(infinite, c) * b);
    if ((::isinf(a) || ::isinf(b)) && ::isfinite(c) && ::isfinite(d))
        return complex_of(infinite * (boxed(a) * c + boxed(b) * d), infinite * (boxed(b) * c - boxed(a) * d));
    if (::isinf(size) && size > 0 && ::isfinite(a) && ::isfinite(b))
        return complex_of(0 * (a * boxed(c) + b * boxed(d)), 0 * (b * boxed(c) - a * boxed(d)));
    return complex_of(real, imaginary);
}

} // namespace gpuprof_math
