// Functions whose result is exact: remainders, scaling, splitting numbers. One text for both precisions.
#pragma once

#include "math_base.h"

namespace gpuprof_math {

template <typename T> struct Format;

template <> struct Format<float> {
    typedef unsigned int Bits;
    typedef int Signed;
    static constexpr int fraction = 23, bias = 127, spare = 8; // spare: bits of `Bits` above the significand
    static constexpr float least_normal = 0x1p-126f, normalizer = 0x1p24f;
};

template <> struct Format<double> {
    typedef unsigned long long Bits;
    typedef long long Signed;
    static constexpr int fraction = 52, bias = 1023, spare = 11;
    static constexpr double least_normal = 0x1p-1022, normalizer = 0x1p54;
};

template <typename T> GPUPROF_MATH typename Format<T>::Bits bits_of(T x) { return __builtin_bit_cast(typename Format<T>::Bits, x); }
template <typename T> GPUPROF_MATH T from_bits(typename Format<T>::Bits x) { return __builtin_bit_cast(T, x); }
template <typename T> GPUPROF_MATH T absolute(T x) { return __builtin_elementwise_abs(x); }
template <typename T> GPUPROF_MATH T with_sign(T x, T sign) { return __builtin_elementwise_copysign(x, sign); }

template <typename T> GPUPROF_MATH T exact_power_of_two(int n)
{
    return from_bits<T>((typename Format<T>::Bits)(n + Format<T>::bias) << Format<T>::fraction);
}

template <typename T> GPUPROF_MATH T ldexp(T x, int n)
{
    constexpr int low = 1 - Format<T>::bias, high = Format<T>::bias, kept = Format<T>::fraction + 1;
    for (int step = 0; step < 2 && n > high; step++) {
        x *= exact_power_of_two<T>(high);
        n -= high;
    }
    for (int step = 0; step < 2 && n < low; step++) { // `kept` bits more, so that only the last product rounds
        x *= exact_power_of_two<T>(low + kept);
        n -= low + kept;
    }
    n = n > high ? high : n < low ? low : n;
    return x * exact_power_of_two<T>(n);
}

// The exponent of |x| as if it were normal; x is neither 0 nor infinite nor NaN.
template <typename T> GPUPROF_MATH int exponent_of(T x)
{
    x = absolute(x);
    bool small = x < Format<T>::least_normal;
    x = small ? x * Format<T>::normalizer : x;
    return (int)(bits_of(x) >> Format<T>::fraction) - Format<T>::bias - (small ? Format<T>::fraction + (sizeof(T) == 4 ? 1 : 2) : 0);
}

template <typename T> GPUPROF_MATH T frexp(T x, int *exponent)
{
    if (x == 0 || !(absolute(x) < (T)infinity())) {
        *exponent = 0;
        return x;
    }
    *exponent = exponent_of(x) + 1;
    return ldexp(x, -*exponent);
}

template <typename T> GPUPROF_MATH T logb(T x)
{
    if (x == 0)
        return -(T)infinity();
    return absolute(x) < (T)infinity() ? (T)exponent_of(x) : x * x;
}

template <typename T> GPUPROF_MATH int ilogb(T x)
{
    if (x == 0 || x != x)
        return -2147483647 - 1;
    return absolute(x) < (T)infinity() ? exponent_of(x) : 2147483647;
}

template <typename T> GPUPROF_MATH T modf(T x, T *whole)
{
    *whole = __builtin_elementwise_trunc(x);
    return with_sign(absolute(x) == (T)infinity() ? (T)0 : x - *whole, x);
}

// Long division, as many bits a step as fit next to the significand.
template <typename T> GPUPROF_MATH T fmod(T x, T y)
{
    typedef typename Format<T>::Bits Bits;
    constexpr int fraction = Format<T>::fraction;
    T a = absolute(x), b = absolute(y);
    if (!(a < (T)infinity()) || !(b > 0) || b != b)
        return (T)nan();
    if (a < b)
        return x;
    int from = exponent_of(a), to = exponent_of(b);
    Bits divisor = (Bits)ldexp(b, fraction - to);
    Bits rest = (Bits)ldexp(a, fraction - from) % divisor;
    for (int n = from - to; n > 0 && rest; n -= Format<T>::spare)
        rest = (rest << (n < Format<T>::spare ? n : Format<T>::spare)) % divisor;
    return with_sign(ldexp((T)rest, to - fraction), x);
}

template <typename T> GPUPROF_MATH T remainder(T x, T y)
{
    T b = absolute(y);
    if (!(absolute(x) < (T)infinity()) || !(b > 0))
        return (T)nan();
    T a = absolute(b + b < (T)infinity() ? fmod(x, b + b) : x);
    // Nearest multiple, ties to even: twice b was taken out, so at most two b remain. All differences are exact.
    bool tiny = b < Format<T>::least_normal * 2; // half of b would round
    T test = tiny ? a + a : a, limit = tiny ? b : b * (T)0.5;
    if (test > limit) {
        a -= b;
        a = (tiny ? a + a : a) >= limit ? a - b : a;
    }
    return bits_of(x) >> (sizeof(T) * 8 - 1) ? -a : a;
}

// The remainder, and the last three bits of the quotient with its sign.
template <typename T> GPUPROF_MATH T remquo(T x, T y, int *quotient)
{
    T rest = remainder(x, y), b = absolute(y);
    *quotient = 0;
    if (rest != rest || !(b < (T)infinity()))
        return rest;
    T a = b < (T)infinity() / 8 && b * 8 < (T)infinity() ? fmod(absolute(x), b * 8) : absolute(x);
    // At most 8 times b is left. Where the remainder rounded up, the quotient did too.
    int count = 0;
    for (int bit = 4; bit > 0; bit >>= 1)
        if (bit * b < (T)infinity() && a >= bit * b) {
            a -= bit * b;
            count += bit;
        }
    T signless = bits_of(x) >> (sizeof(T) * 8 - 1) ? -rest : rest;
    count = count + (signless < 0 || (signless == 0 && a > 0) ? 1 : 0) & 7;
    *quotient = (bits_of(x) ^ bits_of(y)) >> (sizeof(T) * 8 - 1) ? -count : count;
    return rest;
}

template <typename T> GPUPROF_MATH T nextafter(T x, T y)
{
    if (x != x || y != y)
        return x + y;
    if (x == y)
        return y;
    if (x == 0)
        return with_sign(from_bits<T>(1), y);
    return from_bits<T>(bits_of(x) + ((x < y) == (x > 0) ? 1 : -1));
}

template <typename T> GPUPROF_MATH T fdim(T x, T y) { return x != x || y != y ? x + y : x > y ? x - y : (T)0; }

} // namespace gpuprof_math
