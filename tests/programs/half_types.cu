// What programs do with 16-bit floats: casts, raw bits, comparisons of pairs, constants, atomics.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <typename H> __device__ void casts(H h, double *o)
{
    int i = 0;
    o[i++] = (double)h;
    o[i++] = (short)h;
    o[i++] = (long long)h;
    o[i++] = (unsigned char)h;
    o[i++] = static_cast<unsigned short>(h);
    o[i++] = static_cast<int>(h) + (unsigned long long)h;
    H g = h;
    ++g;
    g++;
    --g;
    o[i++] = (float)g;
    g += h;
    g *= h;
    o[i++] = (float)g;
    H z = (H)3L;
    H y = (H)(unsigned long)5;
    o[i++] = (float)(z + y);
    o[i++] = h > z ? 1.0 : 2.0;
    o[i++] = (float)(-h);
    o[i++] = (char)h;
    if (h)
        o[i++] = 7;
}
__global__ void k(double *o, float x)
{
    casts<__half>(x, o);
    casts<__nv_bfloat16>(x, o + 16);
}
__global__ void r(float *o, const half2 *p, const uint4 *q)
{
    __half_raw a;
    a.x = 0x3c00;
    __half h(a);
    __half2_raw b;
    b.x = 0x3c00;
    b.y = 0x4000;
    half2 v(b);
    __nv_bfloat16_raw c;
    c.x = 0x3f80;
    __nv_bfloat16 w(c);
    __nv_bfloat162_raw d;
    d.x = 0x3f80;
    d.y = 0x4000;
    __nv_bfloat162 u(d);
    o[0] = __half2float(h) + __low2float(v) + __bfloat162float(w) + __high2float(u);
    __half_raw back = h;
    o[1] = back.x;
    h = a;
    v = b;
    half2 x = p[0];
    x = __hfma2(x, __half2half2(h), v);
    o[2] = __half2float(__hadd(x.x, x.y));
    o[3] = __hgt(x.x, x.y);
    o[4] = __hbeq2(x, x);
    o[5] = __half2float(hexp(h)) + __half2float(hsqrt(h)) + __half2float(hrsqrt(h)) + __half2float(hlog(h)) + __half2float(htanh(h));
    uint4 z = *q;
    const half2 *hz = reinterpret_cast<const half2 *>(&z);
    float2 f = __half22float2(hz[1]);
    o[6] = f.x + f.y;
    o[7] = (float)CUDART_ONE_FP16;
    o[8] = __int2half_rn(5);
    o[9] = __half2int_rz(h) + __half2ushort_rn(h) + __half2ll_rn(h);
    o[10] = __hmax(h, x.x);
    o[11] = (x == v) + (x != v) + (x > v);
    half2 m = __hmax2(x, v);
    m += v;
    o[12] = (float)m.x;
    o[13] = (float)__ldg(&p[0].x);
    half2 s = __shfl_xor_sync(~0u, v, 1);
    o[14] = (float)s.y;
    o[15] = __hisinf(h) + __hisnan(h);
    o[16] = (float)__hadd_sat(h, h) + (float)__hfma_relu(h, h, h);
    o[17] = (float)h2exp(v).x + (float)h2rcp(v).y;
    atomicAdd((half2 *)(o + 20), v);
    atomicAdd((__nv_bfloat16 *)(o + 21), w);
}
