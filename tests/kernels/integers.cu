// Integer intrinsics and everything nvcc makes of integer C++: 128 bits, divisions, SIMD in a word, shifts past the width.
//
// LAUNCH: wide128<<<2, 64>>>(a: u64[128]=random, b: u64[128]=random, wide: u64[1024])
// LAUNCH: divisions128<<<2, 64>>>(a, b, divisions128: u64[1024])
// LAUNCH: divisions<<<2, 64>>>(a, b, divisions: u64[2048])
// LAUNCH: bits<<<2, 64>>>(a, b, bits: u32[2048])
// LAUNCH: multiplies<<<2, 64>>>(a, b, multiplies: u64[1280])
// LAUNCH: averages<<<2, 64>>>(a, b, averages: u32[1024])
// LAUNCH: simd2<<<2, 64>>>(a, b, simd2: u32[4096])
// LAUNCH: simd4<<<2, 64>>>(a, b, simd4: u32[4096])
// LAUNCH: dots<<<2, 64>>>(a, b, dots: u32[1024])
// LAUNCH: carries<<<2, 64>>>(a, b, carries: u64[512])
// LAUNCH: narrow<<<2, 64>>>(a, b, narrow: u32[1024])

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned long long u64;
typedef long long s64;
typedef unsigned __int128 u128;
typedef __int128 s128;

extern "C" __global__ void wide128(const u64 *a, const u64 *b, u64 *out)
{
    int i = INDEX;
    u128 x = (u128)a[i] << 64 | b[i], y = (u128)b[i] << 31 | a[(i + 1) % 128];
    u128 sum = x + y, difference = x - y, product = x * y;
    u128 shifted = (x >> i % 128) ^ (y << (i * 7) % 128) ^ (u128)((s128)x >> i % 100);
    u64 *o = out + 8 * i;
    o[0] = (u64)sum;
    o[1] = (u64)(sum >> 64);
    o[2] = (u64)(difference >> 64);
    o[3] = (u64)product;
    o[4] = (u64)(product >> 64);
    o[5] = (u64)shifted;
    o[6] = (u64)(shifted >> 64);
    o[7] = (x < y) + 2 * ((s128)x < (s128)y) + 4 * (x == y);
}

extern "C" __global__ void divisions128(const u64 *a, const u64 *b, u64 *out)
{
    int i = INDEX;
    u128 x = (u128)a[i] << 64 | b[i], y = ((u128)b[i] << 31 | a[(i + 1) % 128]) >> i % 95 | 1;
    u128 quotient = x / y, rest = x % y;
    s128 sx = (s128)x >> i % 50, sy = i & 1 ? (s128)y : -(s128)y, s_quotient = sx / sy, s_rest = sx % sy;
    u64 *o = out + 8 * i;
    o[0] = (u64)quotient;
    o[1] = (u64)(quotient >> 64);
    o[2] = (u64)rest;
    o[3] = (u64)(rest >> 64);
    o[4] = (u64)s_quotient;
    o[5] = (u64)(s_quotient >> 64);
    o[6] = (u64)s_rest;
    o[7] = (u64)(s_rest >> 64);
}

extern "C" __global__ void divisions(const u64 *a, const u64 *b, u64 *out)
{
    int i = INDEX;
    u64 x = a[i], y = b[i] >> i % 60 | 1, *o = out + 16 * i;
    s64 sx = (s64)x, sy = (s64)y * (i & 1 ? 1 : -1);
    unsigned ux = (unsigned)x, uy = (unsigned)y | 1;
    int ix = (int)x, iy = (int)uy >> i % 20 | 1;
    o[0] = x / y;
    o[1] = x % y;
    o[2] = sx / sy;
    o[3] = sx % sy;
    o[4] = ux / uy;
    o[5] = ux % uy;
    o[6] = ix / iy;
    o[7] = ix % iy;
    o[8] = x / 10 + x % 1000000007;
    o[9] = sx / -7 + sx % 12;
    o[10] = ux / 7 + ux % 641;
    o[11] = ix / 3 + ix % -100;
    o[12] = (unsigned short)ux / (unsigned short)(uy | 1) + (short)ix % (short)(iy | 1);
    o[13] = (unsigned char)ux / (unsigned char)(uy | 1) + (signed char)(ix >> 1) / (signed char)(iy | 1);
    o[14] = x / (1 << i % 31) + sx / 1024;
    o[15] = ux % 64 + ix / 4096;
}

extern "C" __global__ void bits(const u64 *a, const u64 *b, unsigned *out)
{
    int i = INDEX;
    unsigned x = (unsigned)a[i] >> i % 32, y = (unsigned)b[i], *o = out + 16 * i;
    u64 q = a[i] >> i % 64;
    int s = i % 50; // shifts past the width, as the hardware's clamp
    o[0] = __clz(x) + 100 * __clzll(q) + 10000 * __ffs(x) + 1000000 * __ffsll(q);
    o[1] = __popc(x) + 100 * __popcll(q);
    o[2] = __brev(x);
    o[3] = (unsigned)(__brevll(q) >> 16);
    o[4] = __byte_perm(x, y, (0x7531 + i * 0x111) & 0x7777);
    o[5] = __funnelshift_l(x, y, s);
    o[6] = __funnelshift_r(x, y, s);
    o[7] = __funnelshift_lc(x, y, s);
    o[8] = __funnelshift_rc(x, y, s);
    o[9] = x << (s & 31) | x >> (-s & 31);
    o[10] = (x >> (s % 24) & 0xff) + ((int)x << 8 >> 20);
    o[11] = (x & ~(0x3ff << s % 20)) | (y & 0x3ff) << s % 20;
    o[12] = (x & y) | (~x & 0xf0f0f0f0) ^ (y | 0x1234);
    o[13] = (x ^ y ^ (unsigned)q) + (unsigned)(q >> (s & 63)) + (unsigned)(q << 3 >> 35);
    o[14] = (unsigned)((s64)q >> s % 64);
    o[15] = __ffs((int)(x & 0)) + __clz(0) + (x == 0) + (x > y) * 2 + ((int)x > (int)y) * 4;
}

extern "C" __global__ void multiplies(const u64 *a, const u64 *b, u64 *out)
{
    int i = INDEX;
    u64 x = a[i], y = b[i], *o = out + 10 * i;
    unsigned ux = (unsigned)x, uy = (unsigned)y;
    int ix = (int)x, iy = (int)y;
    o[0] = __umul64hi(x, y);
    o[1] = __mul64hi(x, y);
    o[2] = __umulhi(ux, uy);
    o[3] = (unsigned)__mulhi(ix, iy);
    o[4] = (unsigned)__mul24(ix, iy);
    o[5] = __umul24(ux, uy);
    o[6] = (u64)ux * uy + x;
    o[7] = (s64)ix * iy - (s64)y;
    o[8] = x * y + 12345;
    o[9] = (unsigned)((short)ix * (short)iy) + (unsigned)((unsigned short)ux * 7u);
}

extern "C" __global__ void averages(const u64 *a, const u64 *b, unsigned *out)
{
    int i = INDEX;
    unsigned x = (unsigned)a[i], y = (unsigned)b[i], *o = out + 8 * i;
    int ix = (int)x, iy = (int)y;
    o[0] = __hadd(ix, iy);
    o[1] = __rhadd(ix, iy);
    o[2] = __uhadd(x, y);
    o[3] = __urhadd(x, y);
    o[4] = __sad(ix, iy, x >> 3);
    o[5] = __usad(x, y, 17);
    o[6] = min(ix, iy) ^ max(x, y) ^ abs(ix);
    o[7] = (unsigned)(min((s64)a[i], (s64)b[i]) >> 11) + (unsigned)(max(a[i], b[i]) >> 5) + (unsigned)(llabs((s64)a[i]) >> 3);
}

extern "C" __global__ void simd2(const u64 *a, const u64 *b, unsigned *out)
{
    int i = INDEX;
    unsigned x = (unsigned)a[i], y = (unsigned)b[i], *o = out + 32 * i;
    if (i % 3 == 0)
        y = (x & 0xffff) | (y & 0xffff0000);
    o[0] = __vadd2(x, y);
    o[1] = __vaddss2(x, y);
    o[2] = __vaddus2(x, y);
    o[3] = __vsub2(x, y);
    o[4] = __vsubss2(x, y);
    o[5] = __vsubus2(x, y);
    o[6] = __vavgs2(x, y);
    o[7] = __vavgu2(x, y);
    o[8] = __vhaddu2(x, y);
    o[9] = __vmins2(x, y);
    o[10] = __vminu2(x, y);
    o[11] = __vmaxs2(x, y);
    o[12] = __vmaxu2(x, y);
    o[13] = __vabs2(x);
    o[14] = __vabsss2(x);
    o[15] = __vneg2(x);
    o[16] = __vnegss2(x);
    o[17] = __vabsdiffs2(x, y);
    o[18] = __vabsdiffu2(x, y);
    o[19] = __vsads2(x, y);
    o[20] = __vsadu2(x, y);
    o[21] = __vcmpeq2(x, y);
    o[22] = __vcmpgts2(x, y);
    o[23] = __vcmpgeu2(x, y);
    o[24] = __vcmples2(x, y);
    o[25] = __vcmpltu2(x, y);
    o[26] = __vcmpne2(x, y);
    o[27] = __vseteq2(x, y);
    o[28] = __vsetgts2(x, y);
    o[29] = __vsetleu2(x, y);
    o[30] = __vsetlts2(x, y);
    o[31] = __vsetne2(x, y);
}

extern "C" __global__ void simd4(const u64 *a, const u64 *b, unsigned *out)
{
    int i = INDEX;
    unsigned x = (unsigned)a[i], y = (unsigned)b[i], *o = out + 32 * i;
    if (i % 3 == 0)
        y = (x & 0xff00ff) | (y & 0xff00ff00);
    o[0] = __vadd4(x, y);
    o[1] = __vaddss4(x, y);
    o[2] = __vaddus4(x, y);
    o[3] = __vsub4(x, y);
    o[4] = __vsubss4(x, y);
    o[5] = __vsubus4(x, y);
    o[6] = __vavgs4(x, y);
    o[7] = __vavgu4(x, y);
    o[8] = __vhaddu4(x, y);
    o[9] = __vmins4(x, y);
    o[10] = __vminu4(x, y);
    o[11] = __vmaxs4(x, y);
    o[12] = __vmaxu4(x, y);
    o[13] = __vabs4(x);
    o[14] = __vabsss4(x);
    o[15] = __vneg4(x);
    o[16] = __vnegss4(x);
    o[17] = __vabsdiffs4(x, y);
    o[18] = __vabsdiffu4(x, y);
    o[19] = __vsads4(x, y);
    o[20] = __vsadu4(x, y);
    o[21] = __vcmpeq4(x, y);
    o[22] = __vcmpgts4(x, y);
    o[23] = __vcmpgeu4(x, y);
    o[24] = __vcmples4(x, y);
    o[25] = __vcmpltu4(x, y);
    o[26] = __vcmpne4(x, y);
    o[27] = __vseteq4(x, y);
    o[28] = __vsetgts4(x, y);
    o[29] = __vsetleu4(x, y);
    o[30] = __vsetlts4(x, y);
    o[31] = __vsetne4(x, y);
}

extern "C" __global__ void dots(const u64 *a, const u64 *b, unsigned *out)
{
    int i = INDEX;
    unsigned x = (unsigned)a[i], y = (unsigned)b[i], *o = out + 8 * i;
    o[0] = __dp4a((int)x, (int)y, i);
    o[1] = __dp4a(x, y, (unsigned)i);
    o[2] = __dp2a_lo((int)x, (int)y, i);
    o[3] = __dp2a_hi((int)x, (int)y, i);
    o[4] = __dp2a_lo(x, y, (unsigned)i);
    o[5] = __dp2a_hi(x, y, (unsigned)i);
    char4 p = *(const char4 *)&x, q = *(const char4 *)&y;
    o[6] = __dp4a(p, q, -i);
    o[7] = p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
}

extern "C" __global__ void carries(const u64 *a, const u64 *b, u64 *out)
{
    int i = INDEX;
    u64 x[4] = {a[i], b[i], ~a[i], a[i] ^ b[i]}, y[4] = {b[i], ~b[i], 1, a[i] >> 1};
    u64 carry = 0;
    for (int k = 0; k < 4; k++) {
        u64 sum = x[k] + y[k], more = sum + carry;
        carry = (sum < x[k]) + (more < sum);
        out[4 * i + k] = more;
    }
    out[4 * i] ^= carry;
}

extern "C" __global__ void narrow(const u64 *a, const u64 *b, unsigned *out)
{
    int i = INDEX;
    unsigned *o = out + 8 * i;
    unsigned short x = (unsigned short)a[i], y = (unsigned short)b[i];
    short sx = (short)x, sy = (short)y;
    signed char c = (signed char)a[i], d = (signed char)b[i];
    o[0] = (unsigned short)(x + y) + (short)(sx - sy);
    o[1] = (unsigned short)(x * y);
    o[2] = (sx < sy) + 2 * (x < y) + 4 * (c > d) + 8 * ((unsigned char)c > (unsigned char)d);
    o[3] = (signed char)(c * d) + (short)(sx << 3) + (sx >> 5) + (x >> 5);
    o[4] = sx < 0 ? -sx : sx;
    o[5] = (unsigned char)(c << 1) | (unsigned char)(d >> 2) << 8;
    x += 40000;
    sy = (short)(sy * 2 - x);
    o[6] = x;
    o[7] = sy;
}
