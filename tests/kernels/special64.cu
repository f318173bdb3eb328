// The rarer functions of <math.h> in double precision.
//
// COMPARE: 4e-14
// LAUNCH: special<<<2, 64>>>(special: f64[2304])

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void special(double *out)
{
    int i = INDEX;
    double a = (i - 64) * 0.05, p = (i + 1) * 0.09, u = (i + 0.5) / 128, *o = out + 18 * i;
    o[0] = erf(a);
    o[1] = erfc(a);
    o[2] = erfcx(a);
    o[3] = erfinv(2 * u - 1);
    o[4] = erfcinv(2 * u);
    o[5] = normcdf(a);
    o[6] = normcdfinv(u);
    o[7] = tgamma(p);
    o[8] = lgamma(p + 3);
    o[9] = j0(0.3 + u);
    o[10] = j1(0.3 + u);
    o[11] = jn(2, 0.5 + u);
    o[12] = y0(1.5 + u);
    o[13] = y1(0.5 + u);
    o[14] = yn(2, 0.5 + u);
    o[15] = cyl_bessel_i0(a);
    o[16] = cyl_bessel_i1(p);
    o[17] = tgamma(-u * 0.9 - 0.05);
}
