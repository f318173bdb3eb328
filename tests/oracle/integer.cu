// Integer arithmetic of every width. Overflow happens in unsigned types only, shifts stay below the width: C++ defines all of it.

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

template <class T> __device__ T divided(T a, T b) { return b == 0 || (T(-1) < T(0) && b == T(-1)) ? T(7) : T(a / b); }
template <class T> __device__ T remainder_of(T a, T b) { return b == 0 || (T(-1) < T(0) && b == T(-1)) ? T(5) : T(a % b); }

extern "C" __global__ void divide_s8(const signed char *a, const signed char *b, signed char *out) { int i = INDEX; out[2 * i] = divided(a[i], b[i]); out[2 * i + 1] = remainder_of(a[i], b[i]); }
extern "C" __global__ void divide_u8(const unsigned char *a, const unsigned char *b, unsigned char *out) { int i = INDEX; out[2 * i] = divided(a[i], b[i]); out[2 * i + 1] = remainder_of(a[i], b[i]); }
extern "C" __global__ void divide_s16(const short *a, const short *b, short *out) { int i = INDEX; out[2 * i] = divided(a[i], b[i]); out[2 * i + 1] = remainder_of(a[i], b[i]); }
extern "C" __global__ void divide_u16(const unsigned short *a, const unsigned short *b, unsigned short *out) { int i = INDEX; out[2 * i] = divided(a[i], b[i]); out[2 * i + 1] = remainder_of(a[i], b[i]); }
extern "C" __global__ void divide_s32(const int *a, const int *b, int *out) { int i = INDEX; out[2 * i] = divided(a[i], b[i]); out[2 * i + 1] = remainder_of(a[i], b[i]); }
extern "C" __global__ void divide_u32(const unsigned *a, const unsigned *b, unsigned *out) { int i = INDEX; out[2 * i] = divided(a[i], b[i]); out[2 * i + 1] = remainder_of(a[i], b[i]); }
extern "C" __global__ void divide_s64(const long long *a, const long long *b, long long *out) { int i = INDEX; out[2 * i] = divided(a[i], b[i]); out[2 * i + 1] = remainder_of(a[i], b[i]); }
extern "C" __global__ void divide_u64(const unsigned long long *a, const unsigned long long *b, unsigned long long *out) { int i = INDEX; out[2 * i] = divided(a[i], b[i]); out[2 * i + 1] = remainder_of(a[i], b[i]); }

// Division by constants becomes multiplication.
extern "C" __global__ void divide_by_constants(const int *a, const unsigned *b, const long long *c, long long *out)
{
    int i = INDEX;
    long long sum = a[i] / 3 + a[i] % 7 * 16 + a[i] / -10 + a[i] / 16 + a[i] % 64;
    sum = sum * 3 + b[i] / 3u + b[i] % 7u + b[i] / 1000000007u;
    out[i] = sum + (long long)((unsigned long long)(c[i] / 1000) * 5u) + c[i] % 12345678901ll;
}

extern "C" __global__ void arithmetic_s8(const signed char *a, const signed char *b, signed char *out)
{
    int i = INDEX;
    signed char x = a[i], y = b[i];
    x += y;
    x *= 3;
    x ^= (signed char)(y << 3);
    x -= (signed char)(y >> 2);
    out[i] = x > y ? x : (signed char)~y;
}

extern "C" __global__ void arithmetic_u8(const unsigned char *a, const unsigned char *b, unsigned char *out)
{
    int i = INDEX;
    unsigned char x = a[i], y = b[i];
    x -= y;
    x = (unsigned char)(x * y + 1);
    x = (unsigned char)(x << (y & 7) | x >> (8 - (y & 7)));
    out[i] = x < y ? (unsigned char)-x : x;
}

extern "C" __global__ void arithmetic_s16(const short *a, const short *b, short *out)
{
    int i = INDEX;
    short x = a[i], y = b[i];
    short sum = (short)(x + y), low = (short)((unsigned)x * (unsigned)y);
    short shifted = (short)(x >> (y & 15));
    out[i] = (short)(sum ^ low ^ shifted ^ (short)min((int)x, (int)y) ^ (short)(x < y));
}

extern "C" __global__ void arithmetic_u16(const unsigned short *a, const unsigned short *b, unsigned short *out)
{
    int i = INDEX;
    unsigned short x = a[i], y = b[i];
    unsigned product = (unsigned)x * y;
    unsigned short high = (unsigned short)(product >> 16), difference = (unsigned short)(x - y);
    out[i] = (unsigned short)(high + difference + (x > y) * 3 + (unsigned short)(x << (y & 15)) + (unsigned short)~y);
}

extern "C" __global__ void overflow(const unsigned *a, const unsigned long long *b, unsigned long long *out)
{
    int i = INDEX;
    unsigned x = a[i] * 2654435761u + a[i ^ 1];
    unsigned long long y = b[i] * 6364136223846793005ull + b[i ^ 1] - x;
    out[i] = y ^ (unsigned long long)(0u - x) ^ (unsigned long long)x << 32 ^ (x * x) ^ (unsigned long long)x * x;
}

extern "C" __global__ void shifts_32(const unsigned *a, const int *b, const unsigned *count, unsigned *out)
{
    int i = INDEX;
    unsigned n = count[i] & 31;
    out[4 * i] = a[i] << n;
    out[4 * i + 1] = a[i] >> n;
    out[4 * i + 2] = (unsigned)(b[i] >> n);
    out[4 * i + 3] = count[i] < 32 ? a[i] >> count[i] : 0xabcdu;
}

extern "C" __global__ void shifts_64(const unsigned long long *a, const long long *b, const unsigned *count, unsigned long long *out)
{
    int i = INDEX;
    unsigned n = count[i] & 63;
    out[4 * i] = a[i] << n;
    out[4 * i + 1] = a[i] >> n;
    out[4 * i + 2] = (unsigned long long)(b[i] >> n);
    out[4 * i + 3] = a[i] << n | a[i] >> (64 - n & 63);
}

// Every width and sign to every other.
extern "C" __global__ void conversions(const int *a, const long long *b, const short *c, const signed char *d, const unsigned char *e, long long *out)
{
    int i = INDEX;
    long long *row = out + 8 * i;
    row[0] = (signed char)a[i] + (unsigned char)a[i] * 1000ll + (short)a[i] * 100000ll;
    row[1] = (unsigned short)a[i] - (long long)(unsigned)a[i];
    row[2] = (int)b[i] + (long long)(unsigned)b[i];
    row[3] = (short)b[i] * 3ll + (signed char)b[i];
    row[4] = (unsigned short)c[i] + (long long)(unsigned)c[i] + (unsigned char)c[i];
    row[5] = (unsigned)d[i] + (long long)(unsigned char)d[i] + (unsigned short)d[i];
    row[6] = (signed char)e[i] + (long long)((unsigned long long)(short)(signed char)e[i] >> 40);
    row[7] = (long long)(unsigned long long)(unsigned)(unsigned short)(signed char)d[i];
}

extern "C" __global__ void compare(const int *a, const int *b, const unsigned *c, const unsigned *d, const long long *e, const long long *f, unsigned *out)
{
    int i = INDEX;
    unsigned bits = (a[i] < b[i]) | (a[i] <= b[i]) << 1 | (a[i] == b[i]) << 2 | (a[i] != b[i]) << 3 | (a[i] > b[i]) << 4 | (a[i] >= b[i]) << 5;
    bits |= (c[i] < d[i]) << 6 | (c[i] <= d[i]) << 7 | (c[i] == d[i]) << 8 | (c[i] > d[i]) << 9 | (c[i] >= d[i]) << 10;
    bits |= (e[i] < f[i]) << 11 | (e[i] <= f[i]) << 12 | (e[i] == f[i]) << 13 | ((unsigned long long)e[i] < (unsigned long long)f[i]) << 14;
    bits |= ((unsigned)a[i] < c[i]) << 15 | ((long long)a[i] < (long long)c[i]) << 16 | (e[i] > a[i]) << 17;
    out[i] = bits;
}

extern "C" __global__ void bit_functions(const unsigned *a, const unsigned long long *b, const unsigned *c, unsigned long long *out)
{
    int i = INDEX;
    unsigned long long *row = out + 6 * i;
    row[0] = __popc(a[i]) + 100u * __popcll(b[i]) + 10000u * __clz((int)a[i]) + 1000000ull * __clzll((long long)b[i]);
    row[1] = __ffs((int)a[i]) + 100u * __ffsll((long long)b[i]);
    row[2] = __brev(a[i]) ^ __brevll(b[i]);
    row[3] = __funnelshift_l(a[i], c[i], c[i] >> 7) | (unsigned long long)__funnelshift_r(a[i], c[i], c[i] >> 3) << 32;
    row[4] = __byte_perm(a[i], c[i], c[i] & 0x7777);
    row[5] = __byte_perm(a[i], c[i], 0x2461) ^ (unsigned long long)__byte_perm(a[i], 0, 0x4440) << 16;
}

extern "C" __global__ void high_products(const int *a, const int *b, const long long *c, const long long *d, long long *out)
{
    int i = INDEX;
    out[6 * i] = __mulhi(a[i], b[i]);
    out[6 * i + 1] = __umulhi((unsigned)a[i], (unsigned)b[i]);
    out[6 * i + 2] = __mul64hi(c[i], d[i]);
    out[6 * i + 3] = (long long)__umul64hi((unsigned long long)c[i], (unsigned long long)d[i]);
    out[6 * i + 4] = __mul24(a[i] & 0x7fff, b[i] & 0xffff) + (long long)__sad(a[i] >> 1, b[i] >> 1, 9u);
    out[6 * i + 5] = (long long)__hadd(a[i], b[i]) * 3 + __rhadd(a[i], b[i]);
}

// 128-bit sums by hand: the compiler makes chains with carry of them.
extern "C" __global__ void wide_sum(const unsigned long long *a, const unsigned long long *b, unsigned long long *out)
{
    int i = INDEX;
    unsigned __int128 x = (unsigned __int128)a[i] << 64 | b[i ^ 1], y = (unsigned __int128)b[i] << 64 | a[i ^ 1];
    unsigned __int128 sum = x + y, difference = x - y, product = x * y;
    out[8 * i] = (unsigned long long)sum;
    out[8 * i + 1] = (unsigned long long)(sum >> 64);
    out[8 * i + 2] = (unsigned long long)difference;
    out[8 * i + 3] = (unsigned long long)(difference >> 64);
    out[8 * i + 4] = (unsigned long long)product;
    out[8 * i + 5] = (unsigned long long)(product >> 64);
    out[8 * i + 6] = (unsigned long long)(x >> (a[i] & 127));
    out[8 * i + 7] = (unsigned long long)((__int128)x < (__int128)y) + 2 * (x < y);
}

extern "C" __global__ void min_max(const int *a, const int *b, const unsigned *c, const long long *d, const long long *e, long long *out)
{
    int i = INDEX;
    out[4 * i] = min(a[i], b[i]) + (long long)max(a[i], b[i]) * 5;
    out[4 * i + 1] = min(c[i], (unsigned)a[i]) + 3ll * max(c[i], (unsigned)b[i]);
    out[4 * i + 2] = (long long)((unsigned long long)min(d[i], e[i]) * 3u ^ (unsigned long long)max(d[i], e[i]));
    out[4 * i + 3] = (a[i] == (int)0x80000000 ? 1 : abs(a[i])) + (long long)(min(max(a[i], -100), 100));
}

// Bit fields of odd places and widths, signed and unsigned.
struct Fields {
    int a : 3;
    unsigned b : 7;
    int c : 13;
    unsigned d : 9;
    long long e : 40;
    unsigned long long f : 24;
};

extern "C" __global__ void bit_fields(const unsigned *a, const long long *b, long long *out)
{
    int i = INDEX;
    Fields fields = __builtin_bit_cast(Fields, (unsigned __int128)(unsigned long long)b[i] << 64 | a[i]);
    fields.b += 3;
    fields.c = fields.c >> 2;
    fields.e ^= fields.a;
    fields.f++;
    out[3 * i] = fields.a + fields.b * 10ll + fields.c * 10000ll + fields.d;
    out[3 * i + 1] = fields.e;
    out[3 * i + 2] = fields.f;
}
