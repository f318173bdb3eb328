// The functions of <math.h>, in single precision. Two libraries: equal within a few units in the last place.
//
// COMPARE: 4e-6
// LAUNCH: elementary<<<2, 64>>>(elementary: f32[2560])
// LAUNCH: hyperbolic<<<2, 64>>>(hyperbolic: f32[2048])
// LAUNCH: shapes<<<2, 64>>>(shapes: f32[2048])
// LAUNCH: large<<<2, 64>>>(large: f32[512])

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void elementary(float *out)
{
    int i = INDEX;
    float a = (i - 64) * 0.173f, p = (i + 1) * 0.217f, u = (i - 63.5f) / 64, *o = out + 20 * i;
    o[0] = sinf(a);
    o[1] = cosf(a);
    o[2] = tanf(a);
    o[3] = asinf(u);
    o[4] = acosf(u);
    o[5] = atanf(a);
    o[6] = atan2f(a, p - 10);
    o[7] = expf(a);
    o[8] = exp2f(a);
    o[9] = exp10f(a);
    o[10] = expm1f(a);
    o[11] = logf(p);
    o[12] = log2f(p);
    o[13] = log10f(p);
    o[14] = log1pf(p);
    o[15] = powf(p, u);
    o[16] = powf(a, 3.0f);
    sincosf(a, &o[17], &o[18]);
    o[19] = sqrtf(p) + rsqrtf(p) + cbrtf(a);
}

extern "C" __global__ void hyperbolic(float *out)
{
    int i = INDEX;
    float a = (i - 64) * 0.11f, p = 1 + i * 0.3f, u = (i - 63.5f) / 64, *o = out + 16 * i;
    o[0] = sinhf(a);
    o[1] = coshf(a);
    o[2] = tanhf(a);
    o[3] = asinhf(a);
    o[4] = acoshf(p);
    o[5] = atanhf(u);
    o[6] = sinpif(u);
    o[7] = cospif(a);
    sincospif(u, &o[8], &o[9]);
    o[10] = hypotf(a, p);
    o[11] = rhypotf(a, p);
    o[12] = norm3df(a, p, u);
    o[13] = rnorm3df(a, p, u);
    o[14] = norm4df(a, p, u, 1);
    o[15] = rcbrtf(p);
}

extern "C" __global__ void shapes(float *out)
{
    int i = INDEX;
    float a = (i - 64) * 0.173f, b = (i % 13 + 1) * 0.7f, *o = out + 16 * i;
    o[0] = fabsf(a);
    o[1] = fmodf(a, b);
    o[2] = remainderf(a, b);
    o[3] = fdimf(a, b);
    o[4] = fmaf(a, b, 1.5f);
    o[5] = fmaxf(a, b) + fminf(a, b);
    o[6] = floorf(a) + ceilf(b) + truncf(a) + roundf(b) + rintf(a);
    o[7] = ldexpf(a, i % 20 - 10);
    o[8] = copysignf(b, a);
    o[9] = logbf(b);
    o[10] = scalbnf(b, 3) + scalblnf(b, -2l);
    o[11] = nextafterf(a, b);
    o[12] = (float)ilogbf(b);
    o[13] = normf(3, &o[0]);
    o[14] = a / b;
    o[15] = 1 / b + a * a - b;
}

extern "C" __global__ void large(float *out)
{
    int i = INDEX;
    float a = 100003.0f + i * 12345;
    out[4 * i] = sinf(a);
    out[4 * i + 1] = cosf(a * 1e20f);
    out[4 * i + 2] = tanf(-a);
    out[4 * i + 3] = expf(-(float)i) + powf(a, -3.5f) * 1e10f;
}
