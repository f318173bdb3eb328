// Bessel functions of single precision. nvcc computes them in float, ours in double, rounded.
//
// COMPARE: 1e-6
// LAUNCH: bessel_of_float<<<1, 64>>>(bessel_of_float: f32[384])

extern "C" __global__ void bessel_of_float(float *out)
{
    int i = threadIdx.x;
    float x = 0.43f * i + 0.01f, *o = out + 6 * i;
    o[0] = 1 + j0f(x);
    o[1] = 1 + j1(x);
    o[2] = 1 + y0f(x) / (1 + fabsf(y0f(x)));
    o[3] = 1 + y1(x) / (1 + fabsf(y1(x)));
    o[4] = 1 + jnf(3, x);
    o[5] = 1 + ynf(2, x) / (1 + fabsf(ynf(2, x)));
}
