// The functions of <math.h>, in double precision. Two libraries: equal within a few units in the last place.
//
// COMPARE: 4e-14
// LAUNCH: elementary<<<2, 64>>>(elementary: f64[2560])
// LAUNCH: hyperbolic<<<2, 64>>>(hyperbolic: f64[2048])
// LAUNCH: shapes<<<2, 64>>>(shapes: f64[2048])
// LAUNCH: large<<<2, 64>>>(large: f64[512])

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void elementary(double *out)
{
    int i = INDEX;
    double a = (i - 64) * 0.173, p = (i + 1) * 0.217, u = (i - 63.5) / 64, *o = out + 20 * i;
    o[0] = sin(a);
    o[1] = cos(a);
    o[2] = tan(a);
    o[3] = asin(u);
    o[4] = acos(u);
    o[5] = atan(a);
    o[6] = atan2(a, p - 10);
    o[7] = exp(a);
    o[8] = exp2(a);
    o[9] = exp10(a);
    o[10] = expm1(a);
    o[11] = log(p);
    o[12] = log2(p);
    o[13] = log10(p);
    o[14] = log1p(p);
    o[15] = pow(p, u);
    o[16] = pow(a, 3.0);
    sincos(a, &o[17], &o[18]);
    o[19] = sqrt(p) + rsqrt(p) + cbrt(a);
}

extern "C" __global__ void hyperbolic(double *out)
{
    int i = INDEX;
    double a = (i - 64) * 0.11, p = 1 + i * 0.3, u = (i - 63.5) / 64, *o = out + 16 * i;
    o[0] = sinh(a);
    o[1] = cosh(a);
    o[2] = tanh(a);
    o[3] = asinh(a);
    o[4] = acosh(p);
    o[5] = atanh(u);
    o[6] = sinpi(u);
    o[7] = cospi(a);
    sincospi(u, &o[8], &o[9]);
    o[10] = hypot(a, p);
    o[11] = rhypot(a, p);
    o[12] = norm3d(a, p, u);
    o[13] = rnorm3d(a, p, u);
    o[14] = norm4d(a, p, u, 1);
    o[15] = rcbrt(p);
}

extern "C" __global__ void shapes(double *out)
{
    int i = INDEX;
    double a = (i - 64) * 0.173, b = (i % 13 + 1) * 0.7, *o = out + 16 * i;
    o[0] = fabs(a);
    o[1] = fmod(a, b);
    o[2] = remainder(a, b);
    o[3] = fdim(a, b);
    o[4] = fma(a, b, 1.5);
    o[5] = fmax(a, b) + fmin(a, b);
    o[6] = floor(a) + ceil(b) + trunc(a) + round(b) + rint(a);
    o[7] = ldexp(a, i % 20 - 10);
    o[8] = copysign(b, a);
    o[9] = logb(b);
    o[10] = scalbn(b, 3) + scalbln(b, -2l);
    o[11] = nextafter(a, b);
    o[12] = (double)ilogb(b);
    o[13] = norm(3, &o[0]);
    o[14] = a / b;
    o[15] = 1 / b + a * a - b;
}

extern "C" __global__ void large(double *out)
{
    int i = INDEX;
    double a = 100003.5 + i * 12345;
    out[4 * i] = sin(a);
    out[4 * i + 1] = cos(a * 1e100);
    out[4 * i + 2] = tan(-a);
    out[4 * i + 3] = exp(-(double)i) + pow(a, -3.5) * 1e10;
}
