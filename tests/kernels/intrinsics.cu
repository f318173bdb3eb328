// Floating-point intrinsics with a rounding of their own, conversions, and bits: exact, so equal to the last bit everywhere.
//
// LAUNCH: single<<<2, 64>>>(x: u32[128]=random, y: u32[128]=random, single: u32[4096])
// LAUNCH: doubles<<<2, 64>>>(p: u64[128]=random, q: u64[128]=random, doubles: u64[4096])
// LAUNCH: to_integers<<<2, 64>>>(x, p, to_integers: u64[4096])
// LAUNCH: from_integers<<<2, 64>>>(x, p, from_integers: u64[4096])
// LAUNCH: rounding<<<2, 64>>>(x, p, rounding: u64[2048])
// LAUNCH: classes<<<2, 64>>>(x, p, classes: u32[1024])
// LAUNCH: manipulation<<<2, 64>>>(x, y, p, manipulation: u64[2048])
// LAUNCH: approximate<<<2, 64>>>(approximate: f32[2048])

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned long long u64;
typedef long long s64;
// All NaNs are one: which bits a NaN has is left open.
__device__ unsigned bits(float x) { return x != x ? 0x7fffffff : __float_as_uint(x); }
__device__ u64 bits(double x) { return x != x ? ~0ull >> 1 : (u64)__double_as_longlong(x); }
// Random bits, made moderate for two lanes of three.
__device__ float number(const unsigned *x, int i) { return i % 3 ? (int)x[i] * 0x1p-20f : __uint_as_float(x[i]); }
__device__ double number(const u64 *x, int i) { return i % 3 ? (s64)x[i] * 0x1p-50 : __longlong_as_double(x[i]); }

extern "C" __global__ void single(const unsigned *x, const unsigned *y, unsigned *out)
{
    int i = INDEX;
    float a = number(x, i), b = number(y, i), c = number(y, (i + 5) % 128);
    unsigned *o = out + 32 * i;
    o[0] = bits(__fadd_rn(a, b));
    o[1] = bits(__fadd_rz(a, b));
    o[2] = bits(__fadd_ru(a, b));
    o[3] = bits(__fadd_rd(a, b));
    o[4] = bits(__fsub_rn(a, b));
    o[5] = bits(__fsub_rz(a, b));
    o[6] = bits(__fsub_ru(a, b));
    o[7] = bits(__fsub_rd(a, b));
    o[8] = bits(__fmul_rn(a, b));
    o[9] = bits(__fmul_rz(a, b));
    o[10] = bits(__fmul_ru(a, b));
    o[11] = bits(__fmul_rd(a, b));
    o[12] = bits(__fmaf_rn(a, b, c));
    o[13] = bits(__fmaf_rz(a, b, c));
    o[14] = bits(__fmaf_ru(a, b, c));
    o[15] = bits(__fmaf_rd(a, b, c));
    o[16] = bits(__fdiv_rn(a, b));
    o[17] = bits(__fdiv_rz(a, b));
    o[18] = bits(__fdiv_ru(a, b));
    o[19] = bits(__fdiv_rd(a, b));
    o[20] = bits(__frcp_rn(a));
    o[21] = bits(__frcp_rz(a));
    o[22] = bits(__frcp_ru(a));
    o[23] = bits(__frcp_rd(a));
    o[24] = bits(__fsqrt_rn(fabsf(a)));
    o[25] = bits(__fsqrt_rz(fabsf(a)));
    o[26] = bits(__fsqrt_ru(fabsf(a)));
    o[27] = bits(__fsqrt_rd(fabsf(a)));
    o[28] = bits(__saturatef(a));
    o[29] = bits(fminf(a, b));
    o[30] = bits(fmaxf(a, b));
    o[31] = bits(fdimf(a, b));
}

extern "C" __global__ void doubles(const u64 *x, const u64 *y, u64 *out)
{
    int i = INDEX;
    double a = number(x, i), b = number(y, i), c = number(y, (i + 5) % 128);
    u64 *o = out + 32 * i;
    o[0] = bits(__dadd_rn(a, b));
    o[1] = bits(__dadd_rz(a, b));
    o[2] = bits(__dadd_ru(a, b));
    o[3] = bits(__dadd_rd(a, b));
    o[4] = bits(__dsub_rn(a, b));
    o[5] = bits(__dsub_rz(a, b));
    o[6] = bits(__dsub_ru(a, b));
    o[7] = bits(__dsub_rd(a, b));
    o[8] = bits(__dmul_rn(a, b));
    o[9] = bits(__dmul_rz(a, b));
    o[10] = bits(__dmul_ru(a, b));
    o[11] = bits(__dmul_rd(a, b));
    o[12] = bits(__fma_rn(a, b, c));
    o[13] = bits(__fma_rz(a, b, c));
    o[14] = bits(__fma_ru(a, b, c));
    o[15] = bits(__fma_rd(a, b, c));
    o[16] = bits(__ddiv_rn(a, b));
    o[17] = bits(__ddiv_rz(a, b));
    o[18] = bits(__ddiv_ru(a, b));
    o[19] = bits(__ddiv_rd(a, b));
    o[20] = bits(__drcp_rn(a));
    o[21] = bits(__drcp_rz(a));
    o[22] = bits(__drcp_ru(a));
    o[23] = bits(__drcp_rd(a));
    o[24] = bits(__dsqrt_rn(fabs(a)));
    o[25] = bits(__dsqrt_rz(fabs(a)));
    o[26] = bits(__dsqrt_ru(fabs(a)));
    o[27] = bits(__dsqrt_rd(fabs(a)));
    o[28] = bits(fmin(a, b));
    o[29] = bits(fmax(a, b));
    o[30] = bits(fdim(a, b));
    o[31] = bits(fabs(a) + (a < b) + 2 * (a <= b) + 4 * (a != b) + 8 * !(a > b));
}

extern "C" __global__ void to_integers(const unsigned *x, const u64 *p, u64 *out)
{
    int i = INDEX;
    float a = number(x, i);
    double d = number(p, i);
    u64 *o = out + 32 * i;
    o[0] = __float2int_rn(a);
    o[1] = __float2int_rz(a);
    o[2] = __float2int_ru(a);
    o[3] = __float2int_rd(a);
    o[4] = __float2uint_rn(a);
    o[5] = __float2uint_rz(a);
    o[6] = __float2uint_ru(a);
    o[7] = __float2uint_rd(a);
    o[8] = __float2ll_rn(a);
    o[9] = __float2ll_rz(a);
    o[10] = __float2ll_ru(a);
    o[11] = __float2ll_rd(a);
    o[12] = __float2ull_rn(a);
    o[13] = __float2ull_rz(a);
    o[14] = __float2ull_ru(a);
    o[15] = __float2ull_rd(a);
    o[16] = __double2int_rn(d);
    o[17] = __double2int_rz(d);
    o[18] = __double2int_ru(d);
    o[19] = __double2int_rd(d);
    o[20] = __double2uint_rn(d);
    o[21] = __double2uint_rz(d);
    o[22] = __double2uint_ru(d);
    o[23] = __double2uint_rd(d);
    o[24] = __double2ll_rn(d);
    o[25] = __double2ll_rz(d);
    o[26] = __double2ll_ru(d);
    o[27] = __double2ll_rd(d);
    o[28] = __double2ull_rn(d);
    o[29] = __double2ull_rz(d);
    o[30] = __double2ull_ru(d);
    o[31] = __double2ull_rd(d);
}

extern "C" __global__ void from_integers(const unsigned *x, const u64 *p, u64 *out)
{
    int i = INDEX;
    unsigned u = x[i];
    int s = (int)u;
    u64 v = p[i] >> i % 40;
    s64 w = (s64)p[i] >> i % 40;
    double d = number(p, i);
    u64 *o = out + 32 * i;
    o[0] = bits(__int2float_rn(s));
    o[1] = bits(__int2float_rz(s));
    o[2] = bits(__int2float_ru(s));
    o[3] = bits(__int2float_rd(s));
    o[4] = bits(__uint2float_rn(u));
    o[5] = bits(__uint2float_rz(u));
    o[6] = bits(__uint2float_ru(u));
    o[7] = bits(__uint2float_rd(u));
    o[8] = bits(__ll2float_rn(w));
    o[9] = bits(__ll2float_rz(w));
    o[10] = bits(__ll2float_ru(w));
    o[11] = bits(__ll2float_rd(w));
    o[12] = bits(__ull2float_rn(v));
    o[13] = bits(__ull2float_rz(v));
    o[14] = bits(__ull2float_ru(v));
    o[15] = bits(__ull2float_rd(v));
    o[16] = bits(__ll2double_rn(w));
    o[17] = bits(__ll2double_rz(w));
    o[18] = bits(__ll2double_ru(w));
    o[19] = bits(__ll2double_rd(w));
    o[20] = bits(__ull2double_rn(v));
    o[21] = bits(__ull2double_rz(v));
    o[22] = bits(__ull2double_ru(v));
    o[23] = bits(__ull2double_rd(v));
    o[24] = bits(__double2float_rn(d));
    o[25] = bits(__double2float_rz(d));
    o[26] = bits(__double2float_ru(d));
    o[27] = bits(__double2float_rd(d));
    o[28] = bits(__int2double_rn(s));
    o[29] = bits(__uint2double_rn(u));
    o[30] = bits((float)(signed char)u) + bits((float)(unsigned short)s);
    o[31] = bits((double)(short)u) + bits((double)number(x, i));
}

extern "C" __global__ void rounding(const unsigned *x, const u64 *p, u64 *out)
{
    int i = INDEX;
    float a = number(x, i) / 64;
    double d = number(p, i) / 64;
    u64 *o = out + 16 * i;
    o[0] = bits(floorf(a));
    o[1] = bits(ceilf(a));
    o[2] = bits(truncf(a));
    o[3] = bits(roundf(a));
    o[4] = bits(rintf(a));
    o[5] = bits(nearbyintf(a));
    o[6] = bits(floor(d));
    o[7] = bits(ceil(d));
    o[8] = bits(trunc(d));
    o[9] = bits(round(d));
    o[10] = bits(rint(d));
    o[11] = bits(nearbyint(d));
    bool small = fabsf(a) < 1e9f && fabs(d) < 1e9;
    o[12] = small ? lrintf(a) + lround(d) : 0;
    o[13] = small ? llrint(d) + llroundf(a) : 0;
    float f, g = modff(a, &f);
    o[14] = (u64)bits(g) << 32 | bits(f);
    double e, h = modf(d, &e);
    o[15] = bits(h) ^ bits(e);
}

extern "C" __global__ void classes(const unsigned *x, const u64 *p, unsigned *out)
{
    int i = INDEX;
    float specials[] = {0.0f, -0.0f, 1e-40f, INFINITY, -INFINITY, NAN, 1.0f};
    float a = i % 2 ? specials[i % 7] : number(x, i);
    double d = i % 2 ? (double)specials[i % 7] : number(p, i);
    unsigned *o = out + 8 * i;
    o[0] = !!isnan(a) + 2 * !!isinf(a) + 4 * !!isfinite(a) + 8 * !!signbit(a) * !isnan(a);
    o[1] = !!isnan(d) + 2 * !!isinf(d) + 4 * !!isfinite(d) + 8 * !!signbit(d) * !isnan(d);
    o[2] = bits(copysignf(a, (float)d));
    o[3] = isnan(a) ? 0 : ilogbf(a == 0 || isinf(a) ? 1.0f : a);
    o[4] = isnan(d) ? 0 : ilogb(d == 0 || isinf(d) ? 1.0 : d);
    o[5] = (a < 1) + 2 * (a > 1) + 4 * (a == 1) + 8 * !(a < 1) + 16 * !(a >= 1) + 32 * (a != a);
    o[6] = bits(fmaxf(a, 0.5f)) ^ bits(fminf(a, -0.5f));
    o[7] = (d < 2.0) + 2 * (d != d) + 4 * (d < 1.0 || d > 1.0);
}

extern "C" __global__ void manipulation(const unsigned *x, const unsigned *y, const u64 *p, u64 *out)
{
    int i = INDEX, e, quotient;
    float a = (int)x[i] * 0x1p-20f, b = (int)y[i] * 0x1p-26f;
    double d = (s64)p[i] * 0x1p-50;
    u64 *o = out + 16 * i;
    o[0] = bits(ldexpf(a, i - 64));
    o[1] = bits(scalbnf(a, 64 - i));
    o[2] = bits(ldexp(d, 10 * i - 640));
    o[3] = bits(frexpf(a, &e)) + ((u64)(unsigned)e << 32);
    o[4] = bits(frexp(d, &e)) + (unsigned)e;
    o[5] = bits(logbf(a == 0 ? 1 : a)) ^ bits(logb(d == 0 ? 1 : d));
    o[6] = bits(fmodf(a, b));
    o[7] = bits(fmod(d, (double)b));
    o[8] = bits(remainderf(a, b));
    o[9] = bits(remainder(d, (double)b));
    o[10] = bits(remquof(a, b, &quotient)) + ((u64)(quotient & 7) << 32);
    o[11] = bits(nextafterf(a, b));
    o[12] = bits(nextafter(d, (double)b));
    o[13] = (unsigned)__double2hiint(d) + (u64)(unsigned)__double2loint(d) * 3;
    o[14] = bits(__hiloint2double((int)x[i] >> 2, (int)y[i]));
    o[15] = bits(__int_as_float((int)x[i])) + (u64)__float_as_int(b);
}

// What the hardware approximates: the same instruction in every compiler, so the same bits.
extern "C" __global__ void approximate(float *out)
{
    int i = INDEX;
    float a = (i - 20) * 0.37f, p = (i + 1) * 0.11f;
    float *o = out + 16 * i;
    o[0] = __sinf(a);
    o[1] = __cosf(a);
    o[2] = __expf(a * 0.1f);
    o[3] = __logf(p);
    o[4] = __log2f(p);
    o[5] = __log10f(p);
    o[6] = __powf(p, 1.5f);
    o[7] = __fdividef(a, p);
    o[8] = __frsqrt_rn(p);
    o[9] = __exp10f(a * 0.05f);
    o[10] = __tanf(a * 0.1f);
    __sincosf(a, &o[11], &o[12]);
    o[13] = __fsqrt_rn(p) * rsqrtf(p);
    o[14] = __saturatef(a * 0.01f);
    o[15] = __fdividef(1.0f, p);
}
