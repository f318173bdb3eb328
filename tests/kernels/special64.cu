// The rarer functions of <math.h> in double precision.
//
// COMPARE: 4e-14
// LAUNCH: extremes<<<1, 32>>>(extremes: f64[256])
// LAUNCH: special<<<2, 64>>>(special: f64[1536])

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void special(double *out)
{
    int i = INDEX;
    double a = (i - 64) * 0.05, p = (i + 1) * 0.09, u = (i + 0.5) / 128, *o = out + 12 * i;
    o[0] = erf(a);
    o[1] = erfc(a);
    o[2] = erfcx(a);
    o[3] = erfinv(2 * u - 1);
    o[4] = erfcinv(2 * u);
    o[5] = normcdf(a);
    o[6] = normcdfinv(u);
    o[7] = tgamma(p);
    o[8] = lgamma(p + 3);
    o[9] = cyl_bessel_i0(a);
    o[10] = cyl_bessel_i1(p);
    o[11] = tgamma(-u * 0.9 - 0.05);
}

extern "C" __global__ void extremes(double *out)
{
    int i = threadIdx.x;
    double tiny = (double)ldexp(1.0, -4 * i), *o = out + 8 * i;
    o[0] = erfcinv(tiny);
    o[1] = erfinv(1 - tiny * (double)0.5);
    o[2] = normcdfinv(tiny * (double)0.25);
    o[3] = erfcx((double)(i * 3));
    o[4] = tgamma((double)(i + 0.5)) / (double)exp((double)i * (i > 1 ? log((double)i) : 0));
    o[5] = lgamma((double)(-i - 0.25)) + lgamma((double)(i * 40 + 3));
    o[6] = cyl_bessel_i0((double)i) * (double)exp(-(double)i);
    o[7] = erfinv(tiny * (double)0.25) / tiny;
}
