// Floating point to the last bit. What is to be fused is written fmaf, what is not is kept apart by the pragma (nvcc: -fmad=false).
#ifdef __clang__
#pragma clang fp contract(off)
#endif

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void arithmetic_f32(const float *a, const float *b, const float *c, float *out)
{
    int i = INDEX;
    out[8 * i] = a[i] + b[i];
    out[8 * i + 1] = a[i] - b[i];
    out[8 * i + 2] = a[i] * b[i];
    out[8 * i + 3] = a[i] / b[i];
    out[8 * i + 4] = sqrtf(fabsf(c[i]));
    out[8 * i + 5] = fmaf(a[i], b[i], c[i]);
    out[8 * i + 6] = fmaf(-a[i], b[i], -c[i]);
    out[8 * i + 7] = a[i] * b[i] + c[i];
}

extern "C" __global__ void arithmetic_f64(const double *a, const double *b, const double *c, double *out)
{
    int i = INDEX;
    out[8 * i] = a[i] + b[i];
    out[8 * i + 1] = a[i] - b[i];
    out[8 * i + 2] = a[i] * b[i];
    out[8 * i + 3] = a[i] / b[i];
    out[8 * i + 4] = sqrt(fabs(c[i]));
    out[8 * i + 5] = fma(a[i], b[i], c[i]);
    out[8 * i + 6] = fma(a[i], -b[i], c[i]);
    out[8 * i + 7] = a[i] * b[i] - c[i];
}

// All comparisons, NaN on either side.
extern "C" __global__ void compare_f32(const float *a, const float *b, unsigned *out)
{
    int i = INDEX;
    float x = a[i], y = b[i];
    unsigned bits = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x > y) << 4 | (x >= y) << 5;
    bits |= !(x < y) << 6 | !(x <= y) << 7 | !(x > y) << 8 | !(x >= y) << 9 | isnan(x) << 10 | (isnan(x) || isnan(y)) << 11;
    bits |= (x < y || x > y) << 12 | !(x < y || x > y) << 13 | (x == x && y < 0) << 14;
    out[i] = bits;
}

extern "C" __global__ void compare_f64(const double *a, const double *b, unsigned *out)
{
    int i = INDEX;
    double x = a[i], y = b[i];
    unsigned bits = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x > y) << 4 | (x >= y) << 5;
    bits |= !(x < y) << 6 | !(x <= y) << 7 | !(x > y) << 8 | !(x >= y) << 9 | isnan(x) << 10 | (isnan(x) || isnan(y)) << 11;
    bits |= (x < y || x > y) << 12 | !(x < y || x > y) << 13 | (x == x && y < 0) << 14;
    out[i] = bits;
}

extern "C" __global__ void min_max_f32(const float *a, const float *b, float *out)
{
    int i = INDEX;
    out[5 * i] = fminf(a[i], b[i]);
    out[5 * i + 1] = fmaxf(a[i], b[i]);
    out[5 * i + 2] = a[i] < b[i] ? a[i] : b[i];
    out[5 * i + 3] = a[i] > b[i] ? a[i] : b[i];
    out[5 * i + 4] = fminf(fmaxf(a[i], 0.0f), 1.0f);
}

extern "C" __global__ void min_max_f64(const double *a, const double *b, double *out)
{
    int i = INDEX;
    out[3 * i] = fmin(a[i], b[i]);
    out[3 * i + 1] = fmax(a[i], b[i]);
    out[3 * i + 2] = a[i] < b[i] ? a[i] : b[i];
}

extern "C" __global__ void roundings(const float *a, const double *b, float *out, double *wide)
{
    int i = INDEX;
    out[6 * i] = floorf(a[i]);
    out[6 * i + 1] = ceilf(a[i]);
    out[6 * i + 2] = truncf(a[i]);
    out[6 * i + 3] = rintf(a[i]);
    out[6 * i + 4] = copysignf(1.5f, a[i]);
    out[6 * i + 5] = (float)b[i];
    wide[6 * i] = floor(b[i]);
    wide[6 * i + 1] = ceil(b[i]);
    wide[6 * i + 2] = trunc(b[i]);
    wide[6 * i + 3] = rint(b[i]);
    wide[6 * i + 4] = copysign(b[i], (double)a[i]);
    wide[6 * i + 5] = a[i];
}

// Out of range is undefined in C++, so it is guarded.
extern "C" __global__ void float_to_integer(const float *a, const double *b, long long *out)
{
    int i = INDEX;
    float x = a[i];
    double y = b[i];
    out[8 * i] = fabsf(x) < 127.0f ? (signed char)x : 1;
    out[8 * i + 1] = fabsf(x) < 32767.0f ? (short)x : 2;
    out[8 * i + 2] = fabsf(x) < 2.1e9f ? (int)x : 3;
    out[8 * i + 3] = x > -0.9f && x < 4.2e9f ? (unsigned)x : 4;
    out[8 * i + 4] = fabsf(x) < 9.2e18f ? (long long)x : 5;
    out[8 * i + 5] = x > -0.9f && x < 1.8e19f ? (long long)(unsigned long long)x : 6;
    out[8 * i + 6] = fabs(y) < 2147483647.0 ? (int)y : 7;
    out[8 * i + 7] = fabs(y) < 9.2e18 ? (long long)y : 8;
}

extern "C" __global__ void integer_to_float(const int *a, const unsigned *b, const long long *c, const unsigned long long *d, const signed char *e, float *out, double *wide)
{
    int i = INDEX;
    out[5 * i] = (float)a[i];
    out[5 * i + 1] = (float)b[i];
    out[5 * i + 2] = (float)c[i];
    out[5 * i + 3] = (float)d[i];
    out[5 * i + 4] = (float)e[i];
    wide[5 * i] = a[i];
    wide[5 * i + 1] = b[i];
    wide[5 * i + 2] = (double)c[i];
    wide[5 * i + 3] = (double)d[i];
    wide[5 * i + 4] = (unsigned short)e[i];
}

// Signs of zeros, and expressions that a compiler must not simplify.
extern "C" __global__ void signed_zeros(const float *a, float *out)
{
    int i = INDEX;
    float x = a[i];
    out[6 * i] = x + 0.0f;
    out[6 * i + 1] = x - 0.0f;
    out[6 * i + 2] = 0.0f - x;
    out[6 * i + 3] = -x;
    out[6 * i + 4] = x * -1.0f;
    out[6 * i + 5] = (x + 1e8f) - 1e8f;
}

extern "C" __global__ void bits_of_floats(const float *a, const double *b, unsigned long long *out)
{
    int i = INDEX;
    unsigned bits = __float_as_uint(a[i]);
    out[3 * i] = isnan(a[i]) ? 1 : __float_as_uint(__uint_as_float(bits & 0x7fffffff) * 0.5f);
    out[3 * i + 1] = isnan(b[i]) ? 2 : (unsigned long long)__double_as_longlong(b[i]) >> 52;
    out[3 * i + 2] = bits >> 23 & 0xff;
}

// Horner, in both precisions, with explicit fused multiply-adds.
extern "C" __global__ void polynomial(const float *a, const double *b, float *out, double *wide)
{
    int i = INDEX;
    const float c[] = {1.0f, -0.5f, 0.3333333f, -0.25f, 0.2f, -0.16666667f};
    float x = a[i], s = 0;
    double y = b[i], t = 0;
    for (int k = 5; k >= 0; k--) {
        s = fmaf(s, x, c[k]);
        t = fma(t, y, (double)c[k]);
    }
    out[i] = s;
    wide[i] = t;
}

extern "C" __global__ void newton(const double *a, double *out)
{
    int i = INDEX;
    double x = fabs(a[i]);
    if (!(x > 1e-100 && x < 1e100)) {
        out[i] = -1;
        return;
    }
    double guess = x > 1 ? x : 1;
    for (int k = 0; k < 200; k++) {
        double next = 0.5 * (guess + x / guess);
        if (next >= guess)
            break;
        guess = next;
    }
    out[i] = guess;
}
