// The rarer functions of <math.h> in single precision.
//
// COMPARE: 4e-6
// LAUNCH: special<<<2, 64>>>(special: f32[2304])

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void special(float *out)
{
    int i = INDEX;
    float a = (i - 64) * 0.05f, p = (i + 1) * 0.09f, u = (i + 0.5f) / 128, *o = out + 18 * i;
    o[0] = erff(a);
    o[1] = erfcf(a);
    o[2] = erfcxf(a);
    o[3] = erfinvf(2 * u - 1);
    o[4] = erfcinvf(2 * u);
    o[5] = normcdff(a);
    o[6] = normcdfinvf(u);
    o[7] = tgammaf(p);
    o[8] = lgammaf(p + 3);
    o[9] = j0f(0.3f + u);
    o[10] = j1f(0.3f + u);
    o[11] = jnf(2, 0.5f + u);
    o[12] = y0f(1.5f + u);
    o[13] = y1f(0.5f + u);
    o[14] = ynf(2, 0.5f + u);
    o[15] = cyl_bessel_i0f(a);
    o[16] = cyl_bessel_i1f(p);
    o[17] = tgammaf(-u * 0.9f - 0.05f);
}
