// The rarer functions of <math.h> in single precision.
//
// COMPARE: 4e-6
// LAUNCH: extremes<<<1, 32>>>(extremes: f32[256])
// LAUNCH: special<<<2, 64>>>(special: f32[1536])

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void special(float *out)
{
    int i = INDEX;
    float a = (i - 64) * 0.05f, p = (i + 1) * 0.09f, u = (i + 0.5f) / 128, *o = out + 12 * i;
    o[0] = erff(a);
    o[1] = erfcf(a);
    o[2] = erfcxf(a);
    o[3] = erfinvf(2 * u - 1);
    o[4] = erfcinvf(2 * u);
    o[5] = normcdff(a);
    o[6] = normcdfinvf(u);
    o[7] = tgammaf(p);
    o[8] = lgammaf(p + 3);
    o[9] = cyl_bessel_i0f(a);
    o[10] = cyl_bessel_i1f(p);
    o[11] = tgammaf(-u * 0.9f - 0.05f);
}

extern "C" __global__ void extremes(float *out)
{
    int i = threadIdx.x;
    float tiny = (float)ldexp(1.0, -4 * i), *o = out + 8 * i;
    o[0] = erfcinvf(tiny);
    o[1] = erfinvf(1 - tiny * (float)0.5);
    o[2] = normcdfinvf(tiny * (float)0.25);
    o[3] = erfcxf((float)(i * 3));
    o[4] = tgammaf((float)(i + 0.5)) / (float)exp((double)i * (i > 1 ? log((double)i) : 0));
    o[5] = lgammaf((float)(-i - 0.25)) + lgammaf((float)(i * 40 + 3));
    o[6] = cyl_bessel_i0f((float)i) * (float)exp(-(double)i);
    o[7] = erfinvf(tiny * (float)0.25) / tiny;
}
