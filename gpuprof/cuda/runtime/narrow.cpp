// Conversions to bfloat16, which clang's own library for the host lacks here. To nearest even; a NaN stays one.
extern "C" {

__bf16 __truncsfbf2(float x)
{
    const unsigned bits = __builtin_bit_cast(unsigned, x);
    const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    const unsigned rounded = is_nan ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
    return __builtin_bit_cast(__bf16, (unsigned short)(rounded >> 16));
}

// Rounded once: what a float cannot hold of the double goes into its lowest bit.
__bf16 __truncdfbf2(double x)
{
    float near = (float)x;
    unsigned bits = __builtin_bit_cast(unsigned, near);
    if (x == x && (double)near != x) {
        const bool is_too_large = (near < 0 ? -(double)near : (double)near) > (x < 0 ? -x : x);
        bits = (is_too_large ? bits - 1 : bits) | 1;
        near = __builtin_bit_cast(float, bits);
    }
    return __truncsfbf2(near);
}
}
