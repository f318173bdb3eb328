// Where data lies: local arrays, structures, unions, bit fields, constants, globals with initial values, shared memory, odd addresses.
//
// LAUNCH: local_array<<<1, 64>>>(local: i32[64])
// LAUNCH: local_of_structures<<<1, 64>>>(structures: f64[64])
// LAUNCH: by_value<<<1, 64>>>(hex:01000000000000000000000000000840020304050607080900000000000000000000803f00000040000040400000804007000000000000000000000000000000, by_value: f64[64])
// LAUNCH: unions<<<1, 64>>>(unions: u32[256])
// LAUNCH: bit_fields<<<1, 64>>>(fields: i32[320])
// LAUNCH: constants<<<1, 64>>>(constants: i32[192])
// LAUNCH: globals<<<1, 64>>>(globals: i32[256])
// LAUNCH: globals<<<1, 64>>>(globals_again: i32[256])
// LAUNCH: dynamic_shared<<<2, 64, 1024>>>(dynamic: i32[128])
// LAUNCH: static_shared<<<1, dim3(16, 8)>>>(shared_2d: f32[128])
// LAUNCH: generic<<<1, 64>>>(generic: i32[64])
// LAUNCH: cached<<<1, 64>>>(bytes: u8[4096]=random, cached: u32[64], cached_wide: u64[64])
// LAUNCH: narrow<<<1, 64>>>(bytes, narrow: i32[64], halves: u16[64], octets: u8[64])
// LAUNCH: copies<<<1, 64>>>(bytes, copies: u8[4096])
// LAUNCH: vectors<<<1, 64>>>(bytes, vectors: u32[1024])
// LAUNCH: volatile_memory<<<1, 64>>>(volatiles: i32[64])
// LAUNCH: alignment<<<1, 64>>>(alignment: i32[64])

extern "C" __global__ void local_array(int *out)
{
    int a[37], t = threadIdx.x;
    for (int i = 0; i < 37; i++)
        a[i] = i * t;
    for (int i = 0; i < 37; i++)
        a[(i * 5 + t) % 37] += a[(t + i) % 37];
    int sum = 0;
    for (int i = 0; i < 37; i++)
        sum = sum * 3 + a[i];
    out[t] = sum;
}

struct Item {
    char kind;
    double weight;
    short tags[3];
    unsigned char last;
};

extern "C" __global__ void local_of_structures(double *out)
{
    Item items[9];
    int t = threadIdx.x;
    for (int i = 0; i < 9; i++)
        items[i] = {(char)(i - t), 0.5 * i, {(short)i, (short)-t, (short)(i * t)}, (unsigned char)(200 + i)};
    Item moved = items[t % 9];
    items[t % 9] = items[(t + 4) % 9];
    items[(t + 4) % 9] = moved;
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum = 2 * sum + items[i].kind + items[i].weight * items[i].tags[i % 3] + items[i].last;
    out[t] = sum;
}

struct Packed {
    int id;
    double x;
    unsigned char bytes[8];
    float4 vector;
    long long tail;
};

extern "C" __global__ void by_value(Packed p, double *out)
{
    int t = threadIdx.x;
    out[t] = p.id + p.x + p.bytes[t % 8] + p.vector.x * p.vector.w + (double)p.tail;
}

union Views {
    double d;
    float f[2];
    unsigned long long q;
    unsigned u[2];
    unsigned char b[8];
};

extern "C" __global__ void unions(unsigned *out)
{
    int t = threadIdx.x;
    Views v;
    v.d = 1.0 / (t + 1);
    out[4 * t] = v.u[t & 1];
    v.b[t % 8] ^= 0x55;
    out[4 * t + 1] = v.u[0];
    v.f[1] = 2.5f * t;
    out[4 * t + 2] = (unsigned)(v.q >> 20);
    out[4 * t + 3] = v.b[(t + 3) % 8];
}

struct Fields {
    unsigned a : 5;
    int b : 11;
    unsigned c : 1;
    long long d : 37;
    int e : 3;
    unsigned char f : 6;
};

extern "C" __global__ void bit_fields(int *out)
{
    int t = threadIdx.x;
    Fields x = {};
    x.a = t * 3;
    x.b = t * 77 - 900;
    x.c = t >> 2;
    x.d = (long long)t << 31 | t;
    x.e = t;
    x.f = t * 5;
    x.b += x.a;
    x.d -= x.b;
    out[5 * t] = x.a | x.c << 8;
    out[5 * t + 1] = x.b;
    out[5 * t + 2] = (int)(x.d >> 8);
    out[5 * t + 3] = x.e;
    out[5 * t + 4] = x.f;
}

struct Setting {
    short gain;
    float bias;
    int table[4];
};
__constant__ Setting SETTINGS[3] = {{-1, 0.5f, {1, 2, 3, 4}}, {2, -4.0f, {5, 6, 7, 8}}, {3, 100.0f, {9, 10, 11, 12}}};
__constant__ char TEXT[] = "constant memory";
__constant__ int UNSET[8];
__constant__ const int *TO_CONSTANT = &SETTINGS[1].table[2];

extern "C" __global__ void constants(int *out)
{
    int t = threadIdx.x;
    const Setting &setting = SETTINGS[t % 3];
    out[3 * t] = setting.gain * 1000 + (int)setting.bias + setting.table[t & 3];
    out[3 * t + 1] = TEXT[t % sizeof(TEXT)] + UNSET[t % 8];
    out[3 * t + 2] = TO_CONSTANT[t & 1];
}

__device__ int counter = 40;
__device__ int table[2][3] = {{1, 2, 3}, {4, 5}};
__device__ int *to_table = &table[1][1];
__device__ const char *words[3] = {"alpha", "be", "gamma!"};
__device__ unsigned char bytes[5] = {250, 251, 252, 253, 254};
__device__ double pair[2] = {-0.125, 3e300};
static __device__ long long hidden = -5000000000ll;

extern "C" __global__ void globals(int *out)
{
    int t = threadIdx.x;
    out[4 * t] = atomicAdd(&counter, 0) + table[t & 1][t % 3] + to_table[-(t & 1)];
    out[4 * t + 1] = words[t % 3][t % 2] + bytes[t % 5];
    out[4 * t + 2] = (int)(pair[0] * 64) + (pair[1] > 1e300);
    out[4 * t + 3] = (int)(hidden / 1000);
    __syncthreads();
    if (t == 0) {
        counter += 2;
        hidden++;
    }
}

extern "C" __global__ void dynamic_shared(int *out)
{
    extern __shared__ char arena[];
    int *numbers = (int *)arena;
    short *shorts = (short *)(arena + 512);
    int t = threadIdx.x;
    numbers[t] = t * blockIdx.x;
    shorts[t] = (short)(-t);
    __syncthreads();
    out[blockIdx.x * 64 + t] = numbers[63 - t] + shorts[(t + 1) % 64];
}

extern "C" __global__ void static_shared(float *out)
{
    __shared__ float tile[8][17];
    __shared__ struct {
        int n;
        double d[3];
    } more;
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = x * 100 + y;
    if (x == 0 && y == 0) {
        more.n = 5;
        more.d[2] = 0.5;
    }
    __syncthreads();
    int flat = y * 16 + x;
    out[flat] = tile[flat % 8][flat / 8] + more.n + (float)more.d[2];
}

__device__ int global_words[64];

extern "C" __global__ void generic(int *out)
{
    __shared__ int shared_words[64];
    int local_words[4] = {1, 2, 3, 4}, t = threadIdx.x;
    shared_words[t] = 1000 + t;
    global_words[t] = 2000 + t;
    __syncthreads();
    int *p = t % 3 == 0 ? &shared_words[t] : t % 3 == 1 ? &global_words[t] : &local_words[t & 3];
    *p += 5;
    __syncthreads();
    out[t] = *p + (__isShared(p) ? 1 : 0) * 10000 + (__isGlobal(p) ? 1 : 0) * 20000 + (__isLocal(p) ? 1 : 0) * 40000;
}

extern "C" __global__ void cached(const unsigned char *in, unsigned *out, unsigned long long *wide)
{
    int t = threadIdx.x;
    const unsigned *words = (const unsigned *)in;
    unsigned x = __ldg(&words[t]) + __ldca(&words[t + 1]) + __ldcg(&words[t + 2]) + __ldcs(&words[t + 3]) + __ldlu(&words[t + 4]) + __ldcv(&words[t + 5]);
    uint4 v = __ldg((const uint4 *)in + t);
    float2 f = __ldcs((const float2 *)in + t);
    x += v.x ^ v.y ^ v.z ^ v.w;
    x += __float_as_uint(f.x) ^ __float_as_uint(f.y);
    x += __ldg(in + t) + __ldg((const short *)in + t) + __ldcg((const signed char *)in + t);
    __stwb(&out[t], 0u);
    __stcg(&out[t], 1u);
    __stcs(&out[t], 2u);
    __stwt(&out[t], x);
    __stcs(&wide[t], __ldcs((const unsigned long long *)in + t) + __ldg((const unsigned long long *)in + t));
}

extern "C" __global__ void narrow(const unsigned char *in, int *out, unsigned short *halves, unsigned char *octets)
{
    int t = threadIdx.x;
    const signed char *chars = (const signed char *)in;
    const short *shorts = (const short *)in;
    out[t] = chars[t] * shorts[t] + in[t + 64] - ((const unsigned short *)in)[t + 64];
    halves[t] = (unsigned short)(shorts[t] * 3 + chars[t]);
    octets[t] = (unsigned char)(chars[t] >> 1 ^ in[t + 1]);
}

extern "C" __global__ void copies(const unsigned char *in, unsigned char *out)
{
    int t = threadIdx.x;
    unsigned char buffer[64];
    memset(buffer, 0x11 * (t & 7), sizeof buffer);
    memcpy(buffer + t % 16, in + 7 * t, 40);
    for (int i = 0; i < 30; i++)
        buffer[i + 3] ^= buffer[(i + t) % 40];
    memcpy(out + 64 * t, buffer, 64);
    if (t & 1)
        memset(out + 64 * t + 50, 9, t % 14);
}

struct __align__(16) Aligned {
    unsigned a, b, c, d;
};
struct alignas(8) Half {
    unsigned short v[4];
};

extern "C" __global__ void vectors(const unsigned char *in, unsigned *out)
{
    int t = threadIdx.x;
    Aligned a = ((const Aligned *)in)[t];
    Half h = ((const Half *)in)[t];
    uchar4 c = ((const uchar4 *)in)[t];
    short2 s = ((const short2 *)in)[t];
    longlong2 l = ((const longlong2 *)in)[t];
    double2 d = {(double)l.x, (double)(l.y >> 40)};
    a.a += c.x;
    a.b += s.y;
    a.c ^= (unsigned)l.x;
    a.d = h.v[3] + (unsigned)(int)d.y;
    ((Aligned *)out)[4 * t] = a;
    ((uint4 *)out)[4 * t + 1] = make_uint4(c.y, c.z, c.w, h.v[1]);
    ((uint2 *)out)[8 * t + 4] = make_uint2(s.x, h.v[2]);
    ((ushort4 *)out)[8 * t + 5] = make_ushort4(1, c.x, h.v[0], 4);
    ((longlong2 *)out)[4 * t + 3] = l;
}

extern "C" __global__ void volatile_memory(int *out)
{
    __shared__ volatile int words[64];
    volatile int mine[2];
    int t = threadIdx.x;
    words[t] = t;
    mine[t & 1] = 5;
    mine[~t & 1] = 6;
    __syncthreads();
    volatile int *p = out + t;
    *p = words[63 - t];
    *p = *p + mine[0];
}

struct alignas(64) Roomy {
    int x;
};

extern "C" __global__ void alignment(int *out)
{
    Roomy a, b[2];
    a.x = b[0].x = b[1].x = threadIdx.x;
    bool aligned = (unsigned long long)&a % 64 == 0 && (unsigned long long)&b[1] % 64 == 0;
    out[threadIdx.x] = a.x + b[1].x + 1000 * aligned + (int)((char *)&b[1] - (char *)&b[0]);
}
