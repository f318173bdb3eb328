// Bessel functions of integer orders. nvcc's `jn` of a large order is up to 4e-13 from glibc's, ours 1e-14.
//
// COMPARE: 1e-12
// LAUNCH: bessel<<<2, 64>>>(bessel: f64[1024])

extern "C" __global__ void bessel(double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = 1e-3 + 0.31 * i, *o = out + 8 * i; // to both sides of 4 and 25
    o[0] = 1 + j0(x);                             // near a zero the error of the value itself counts
    o[1] = 1 + j1(-x);
    o[2] = 1 + y0(x) / (1 + fabs(y0(x)));
    o[3] = 1 + y1(x) / (1 + fabs(y1(x)));
    o[4] = 1 + jn(i % 7, x);
    o[5] = jn(40 + i, x);
    o[6] = 1 + yn(5, x) / (1 + fabs(yn(5, x)));
    o[7] = i == 0 ? j0((double)INFINITY) : i == 1 ? y0(0.0) : i == 2 ? y1(-1.0) : i == 3 ? jn(-1, 1.0) : j1(0.0);
}
