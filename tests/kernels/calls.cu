// Functions that stay functions: recursion, pointers, virtual calls, many and large arguments, results in memory.
//
// LAUNCH: recursion<<<1, 64>>>(recursion: i32[128])
// LAUNCH: pointers<<<1, 64>>>(pointers: f32[128])
// LAUNCH: virtual_calls<<<1, 64>>>(virtual_calls: f32[64])
// LAUNCH: wide_calls<<<1, 64>>>(wide: f64[64])
// LAUNCH: big_results<<<1, 64>>>(big: i32[256])
// LAUNCH: lambdas<<<1, 64>>>(lambdas: i32[192])
// LAUNCH: small_types<<<1, 64>>>(small: i32[384])
// LAUNCH: variadic<<<1, 64>>>(variadic: f64[64])
// LAUNCH: out_parameters<<<1, 64>>>(outs: i32[192])

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }

extern "C" __global__ void recursion(int *out)
{
    int t = threadIdx.x;
    out[2 * t] = fibonacci(t % 9);
    out[2 * t + 1] = even(t) + 2 * odd(t / 2);
}

typedef float (*Function)(float);
__device__ __noinline__ float twice(float x) { return x + x; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ __noinline__ float negated(float x) { return -x; }
__device__ Function in_global[3] = {twice, square, negated};
__constant__ Function in_constant[3] = {square, negated, twice};

__device__ __noinline__ float apply(Function f, float x) { return f(f(x)); }

extern "C" __global__ void pointers(float *out)
{
    int t = threadIdx.x;
    Function f = t & 1 ? in_global[t % 3] : in_constant[t % 3];
    out[2 * t] = f((float)t);
    out[2 * t + 1] = apply(in_global[(t / 3) % 3], (float)t);
}

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual float scaled(float k) const { return k * area(); }
};
struct Square : Shape {
    float side;
    __device__ Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
};
struct Box : Square {
    float height;
    __device__ Box(float side, float height) : Square(side), height(height) {}
    __device__ float area() const override { return Square::area() * height; }
    __device__ float scaled(float k) const override { return k + area(); }
};
struct Named {
    int name;
    __device__ virtual int id() const { return name; }
};
struct Both : Box, Named {
    __device__ Both(float side) : Box(side, 2.0f) { name = 7; }
    __device__ int id() const override { return name + (int)side; }
};

__device__ __noinline__ float measure(const Shape *shape, const Named *named)
{
    return shape->area() + shape->scaled(3.0f) + (named ? named->id() : 0);
}

extern "C" __global__ void virtual_calls(float *out)
{
    int t = threadIdx.x;
    Square square((float)t);
    Box box((float)t, 3.0f);
    Both both((float)t);
    const Shape *shape = t % 3 == 0 ? (const Shape *)&square : t % 3 == 1 ? (const Shape *)&box : (const Shape *)&both;
    out[t] = measure(shape, t % 3 == 2 ? &both : nullptr);
}

struct Odd {
    char c[3];
    double d;
    short s;
};

__device__ __noinline__ double wide(char a, short b, int c, long long d, float e, double f, Odd g, const int *h, unsigned char i, bool j, float4 k,
                                    unsigned long long l, Odd m, int n, int o, int p, int q, double r)
{
    return a + b + c + (double)d + e + f + g.c[2] + g.d + g.s + *h + i + (j ? 100 : 200) + k.x * k.w + (double)l + m.c[0] * m.d + n - o + p * q - r;
}

extern "C" __global__ void wide_calls(double *out)
{
    int t = threadIdx.x, local = t * 7;
    Odd odd = {{1, 2, (char)t}, 0.5 * t, (short)-t}, other = {{(char)-t, 0, 0}, 4.0, 0};
    out[t] = wide((char)-t, (short)(t * 1000), t, -1ll << (t & 31), 0.25f, 1e-3 * t, odd, &local, (unsigned char)(t * 5), t & 1, make_float4(t, 0, 0, 2),
                  1ull << t % 50, other, 1, 2, 3, t, 5.5);
}

struct Four {
    int v[4];
};
__device__ __noinline__ Four rotated(Four x, int by)
{
    Four y;
    for (int i = 0; i < 4; i++)
        y.v[(i + by) & 3] = x.v[i];
    return y;
}

extern "C" __global__ void big_results(int *out)
{
    int t = threadIdx.x;
    Four x = {{t, t + 100, t + 200, t + 300}};
    x = rotated(rotated(x, t), 1);
    for (int i = 0; i < 4; i++)
        out[4 * t + i] = x.v[i];
}

template <typename F> __device__ int sum_of(int n, F f)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += f(i);
    return sum;
}

extern "C" __global__ void lambdas(int *out)
{
    int t = threadIdx.x, count = 0;
    out[3 * t] = sum_of(t, [](int i) { return i * i; });
    out[3 * t + 1] = sum_of(5, [=](int i) { return i * t; });
    sum_of(t, [&](int i) {
        count += i & 1;
        return 0;
    });
    out[3 * t + 2] = count;
}

__device__ __noinline__ signed char as_char(int x) { return (signed char)x; }
__device__ __noinline__ unsigned char as_uchar(int x) { return (unsigned char)x; }
__device__ __noinline__ short as_short(int x) { return (short)x; }
__device__ __noinline__ unsigned short as_ushort(int x) { return (unsigned short)x; }
__device__ __noinline__ bool as_bool(int x) { return x & 4; }
__device__ __noinline__ long long as_long(int x) { return (long long)x << 33; }

extern "C" __global__ void small_types(int *out)
{
    int t = threadIdx.x, x = t * 0x1234567;
    out[6 * t] = as_char(x);
    out[6 * t + 1] = as_uchar(x);
    out[6 * t + 2] = as_short(x);
    out[6 * t + 3] = as_ushort(x);
    out[6 * t + 4] = as_bool(x);
    out[6 * t + 5] = (int)(as_long(x) >> 31);
}

template <typename T> __device__ double total(T x) { return (double)x; }
template <typename T, typename... Ts> __device__ __noinline__ double total(T x, Ts... rest) { return (double)x + total(rest...); }

extern "C" __global__ void variadic(double *out)
{
    int t = threadIdx.x;
    out[t] = total(t, 0.5f * t, 2.25 * t, (short)-t, (unsigned char)(t * 3), 1ll << t % 40);
}

__device__ __noinline__ void divide(int x, int by, int *quotient, int &rest)
{
    *quotient = x / by;
    rest = x % by;
}

extern "C" __global__ void out_parameters(int *out)
{
    int t = threadIdx.x, q, r;
    __shared__ int in_shared[64];
    divide(t * 1001 - 30000, t % 7 + 1, &q, r);
    divide(q, 3, &in_shared[t], out[3 * t + 2]);
    out[3 * t] = r;
    out[3 * t + 1] = in_shared[t];
}
