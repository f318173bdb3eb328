// Control flow: who goes where, and who waits for whom.

#ifdef __clang__
#pragma clang fp contract(off)
#endif

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void dense_switch(const int *a, int *out)
{
    int i = INDEX, x = a[i], y;
    switch ((unsigned)x % 11u) {
    case 0: y = x ^ 5; break;
    case 1: y = x >> 3; break;
    case 2: y = ~x; // falls through
    case 3: y = x & 0xff; break;
    case 4: y = (int)((unsigned)x * 3u); break;
    case 5: y = x | 77; break;
    case 6: out[i] = -6; return;
    case 7: y = i; break;
    case 9: y = x % 17; break;
    default: y = -1;
    }
    out[i] = y ^ 0x100;
}

extern "C" __global__ void sparse_switch(const unsigned *a, int *out)
{
    int i = INDEX;
    int y = 0;
    for (int k = 0; k < 4; k++)
        switch (a[i] >> 8 * k & 0xff) {
        case 0: y += 1; break;
        case 17: y += 20; break;
        case 200:
        case 201:
        case 202: y += 300; break;
        case 255: y += 4000; k++; break;
        }
    out[i] = y;
}

extern "C" __global__ void gotos(const unsigned *a, unsigned *out)
{
    int i = INDEX;
    unsigned x = a[i], steps = 0;
again:
    if (steps > 50)
        goto done;
    steps++;
    if (x & 1)
        goto odd;
    x >>= 1;
    if (x)
        goto again;
    goto done;
odd:
    x = x * 3u + 1u;
    if (x % 5u == 0)
        goto middle;
    goto again;
middle:
    x += 7;
    if (steps & 4)
        goto again;
done:
    out[i] = x + steps * 1000u;
}

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(const unsigned *a, unsigned *out)
{
    int i = INDEX;
    out[i] = ackermann(a[i] & 1, a[i] >> 1 & 7) * 100u + ackermann(2, a[i] >> 4 & 3);
}

__device__ __noinline__ int even(int n);
__device__ __noinline__ int odd(int n) { return n <= 0 ? 0 : even(n - 1) + (n & 3); }
__device__ __noinline__ int even(int n) { return n <= 0 ? 1 : odd(n - 1) ^ n; }

extern "C" __global__ void mutual_recursion(const int *a, int *out)
{
    int i = INDEX;
    out[i] = even(a[i] & 15) * 1000 + odd(a[i] >> 4 & 15);
}

__device__ __noinline__ int plus(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
__device__ __noinline__ int minus(int a, int b) { return (int)((unsigned)a - (unsigned)b); }
__device__ __noinline__ int times(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
__device__ __noinline__ int smaller(int a, int b) { return a < b ? a : b; }

extern "C" __global__ void function_pointers(const int *a, const int *b, int *out)
{
    int i = INDEX;
    int (*const functions[])(int, int) = {plus, minus, times, smaller};
    int value = b[i];
    for (int k = 0; k < 6; k++)
        value = functions[a[i] >> 2 * k & 3](value, a[(i + k) & 255]);
    out[i] = value;
}

struct Shape {
    __device__ virtual int area(int scale) const { return scale; }
};
struct Square : Shape {
    int side;
    __device__ Square(int side) : side(side) {}
    __device__ int area(int scale) const override { return side * side * scale; }
};
struct Box : Square {
    int other;
    __device__ Box(int side, int other) : Square(side), other(other) {}
    __device__ int area(int scale) const override { return side * other + scale; }
};

extern "C" __global__ void virtual_functions(const signed char *a, int *out)
{
    int i = INDEX;
    Shape plain;
    Square square(a[i]);
    Box box(a[i], i);
    const Shape *shapes[] = {&plain, &square, &box};
    int sum = 0;
    for (int k = 0; k < 5; k++)
        sum = sum * 3 + shapes[(unsigned)(a[i] + k) % 3u]->area(k);
    out[i] = sum;
}

__device__ __noinline__ double mean(float a, short b, unsigned char c, long long d, bool e, float2 f)
{
    return (a + (float)b + (float)c + (float)d + (e ? 1.0f : 0.0f)) / 5.0 + (double)f.x - (double)f.y;
}

extern "C" __global__ void many_argument_types(const float *a, const short *b, const unsigned char *c, double *out)
{
    int i = INDEX;
    out[i] = mean(a[i], b[i], c[i], b[i] * 3ll, c[i] & 1, make_float2((float)c[i], (float)b[i]));
}

template <int N, class F> __device__ unsigned repeated(unsigned x, F f)
{
    for (int k = 0; k < N; k++)
        x = f(x, k);
    return x;
}

extern "C" __global__ void lambdas_and_templates(const unsigned *a, unsigned *out)
{
    int i = INDEX;
    unsigned key = a[i], other = a[(i + 7) & 255];
    auto mix = [&](unsigned x, int k) { return (x ^ key) * 2654435761u + (unsigned)k; };
    auto twice = [=](unsigned x, int k) mutable { return mix(mix(x, k), other++); };
    out[i] = repeated<3>(key, mix) ^ repeated<2>(other, twice) ^ repeated<5>(1u, [](unsigned x, int k) { return x << 3 ^ x >> 2 ^ (unsigned)k; });
}

extern "C" __global__ void loops(const unsigned *a, unsigned *out)
{
    int i = INDEX;
    unsigned sum = 0, x = a[i];
    for (unsigned k = 0; k < 300; k++) {
        x = x * 1664525u + 1013904223u;
        if (x >> 29 == 3)
            continue;
        sum += x >> 24;
        if (sum > 20000 + (a[i] & 0xfff))
            break;
        for (unsigned j = x >> 30; j > 0; j--) {
            if ((sum ^ j) % 7u == 1)
                break;
            sum += j;
        }
    }
    while (sum % 3u != 0)
        sum += 1 + (a[i] & 3 ? 0 : 1);
    out[i] = sum;
}

extern "C" __global__ void collatz(const unsigned *a, unsigned *out)
{
    int i = INDEX;
    unsigned long long n = (a[i] & 0xffff) + 1;
    unsigned steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n >> 1;
        steps++;
    }
    out[i] = steps;
}

extern "C" __global__ void early_returns(const int *a, int *out, int n)
{
    int i = INDEX;
    if (i >= n - 5)
        return;
    out[i] = 1;
    if (a[i] < 0)
        return;
    for (int k = 0; k < 20; k++) {
        if (a[i] >> k & 1)
            continue;
        out[i] = k + 2;
        if (k > 3)
            return;
    }
    out[i] = 1000;
}

__device__ __noinline__ bool touched(int *at, int bit)
{
    *at |= 1 << bit;
    return bit & 1;
}

extern "C" __global__ void short_circuit(const int *a, int *out)
{
    int i = INDEX;
    int *mine = out + i;
    bool both = a[i] > 0 && touched(mine, 1) && touched(mine, 2) && touched(mine, 3);
    bool either = (a[i] & 1) || touched(mine, 4) || touched(mine, 5) || touched(mine, 6);
    bool mixed = (a[i] & 2 ? touched(mine, 7) : touched(mine, 8)) != ((a[i] & 4) && touched(mine, 9));
    *mine |= both << 20 | either << 21 | mixed << 22;
}

extern "C" __global__ void nested_ternaries(const int *a, const int *b, int *out)
{
    int i = INDEX;
    int x = a[i], y = b[i];
    out[i] = x < 0 ? y < 0 ? x & y : x < -1000 ? x | y : x ^ y : y > x ? y % 100 : x > 50 ? (y & 1 ? 3 : 4) : -(x & 7);
}

// Returns a structure through memory, from a loop that lanes leave at different times.
struct Found {
    int index;
    float value;
    bool ok;
};

__device__ __noinline__ Found search(const float *a, int from, float limit)
{
    for (int k = 0; k < 64; k++)
        if (a[(from + k) & 255] > limit)
            return {k, a[(from + k) & 255], true};
    return {-1, limit, false};
}

extern "C" __global__ void search_loop(const float *a, const float *b, float *out)
{
    int i = INDEX;
    Found found = search(a, i, b[i]);
    Found second = found.ok ? search(a, i + found.index, found.value) : Found{7, 0.5f, false};
    out[3 * i] = (float)found.index + (float)second.index * 100.0f;
    out[3 * i + 1] = found.value;
    out[3 * i + 2] = second.ok ? second.value : -1.0f;
}

// Grids and blocks of three dimensions.
extern "C" __global__ void three_dimensions(unsigned *out)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    unsigned at = (z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x;
    out[at] = x | y << 8 | z << 16 | (threadIdx.x ^ blockIdx.y) << 24;
}

// So many live values that registers run out.
extern "C" __global__ void many_live_values(const unsigned *a, unsigned *out)
{
    int i = INDEX;
    unsigned v[80];
#pragma unroll
    for (int k = 0; k < 80; k++)
        v[k] = a[(i + k) & 255] * (2u * k + 1u);
#pragma unroll
    for (int k = 0; k < 80; k++)
        v[k] ^= v[(k * 37 + 11) % 80] >> (k & 15);
    unsigned sum = 0;
#pragma unroll
    for (int k = 79; k >= 0; k--)
        sum = sum * 5u + v[k];
    out[i] = sum;
}

// The same with a register file that two blocks of 1024 threads share: most of it is spilled.
extern "C" __global__ void __launch_bounds__(1024, 2) spilled_values(const unsigned *a, const double *d, unsigned *out, double *wide)
{
    int i = INDEX;
    unsigned v[48];
    double w[12];
#pragma unroll
    for (int k = 0; k < 48; k++)
        v[k] = a[(i + k) & 255] * (2u * k + 1u);
#pragma unroll
    for (int k = 0; k < 12; k++)
        w[k] = d[(i + k) & 255];
    for (int round = 0; round < (int)(a[i] & 3); round++) {
#pragma unroll
        for (int k = 0; k < 48; k++)
            v[k] ^= v[(k * 37 + 11) % 48] >> (k & 15);
#pragma unroll
        for (int k = 0; k < 12; k++)
            w[k] = w[(k * 7 + 5) % 12] * 0.5 + w[k];
    }
    unsigned sum = 0;
    double total = 0;
#pragma unroll
    for (int k = 47; k >= 0; k--)
        sum = sum * 5u + v[k];
#pragma unroll
    for (int k = 0; k < 12; k++)
        total = total * 0.25 + w[k];
    out[i] = sum;
    wide[i] = total;
}

// Members, pointers to members, and objects made in place.
struct Counter {
    int count = 3;
    int steps[2] = {1, 10};
    __device__ void up(int by) { count = (int)((unsigned)count + (unsigned)(by * steps[0])); }
    __device__ __noinline__ void twist(int by) { count ^= by << (steps[1] & 15); }
    __device__ Counter &operator+=(const Counter &other)
    {
        count = (int)((unsigned)count + (unsigned)other.count);
        return *this;
    }
};

extern "C" __global__ void members(const signed char *a, int *out)
{
    int i = INDEX;
    Counter counters[3];
    void (Counter::*step)(int) = a[i] & 1 ? &Counter::up : &Counter::twist;
    int Counter::*field = &Counter::count;
    for (int k = 0; k < 5; k++)
        (counters[(a[i] + k) & 1].*step)(k);
    counters[2] += counters[a[i] >> 1 & 1];
    counters[2].*field += 7;
    static constexpr int weights[] = {5, 25, 125};
    out[i] = counters[0].count + counters[1].count * 3 + counters[2].count * weights[(unsigned)a[i] % 3u];
}

// Loops around divergent calls: lanes are in different functions, and at different depths, at the same time.
__device__ __noinline__ int digits(unsigned x) { return x < 10 ? 1 : 1 + digits(x / 10); }
__device__ __noinline__ int ones(unsigned x)
{
    int n = 0;
    while (x) {
        n += x & 1;
        x >>= 1;
        if (n > 9)
            return -digits(x);
    }
    return n;
}

extern "C" __global__ void divergent_calls(const unsigned *a, int *out)
{
    int i = INDEX, sum = 0;
    for (unsigned k = 0; k < (a[i] & 15); k++) {
        unsigned x = a[(i * 7 + k) & 255];
        int (*chosen)(unsigned) = x % 3u ? digits : ones;
        sum += x & 1 ? chosen(x) : x & 2 ? ones(x) * 100 : digits(x) * 10000;
        if (sum > 500000)
            break;
    }
    out[i] = sum;
}

// An abstract class: while its constructor runs, an object has the table with the pure function in it.
struct Amount {
    __device__ __noinline__ Amount() {}
    __device__ virtual int of(int n) const = 0;
    __device__ int twice(int n) const { return of(n) + of(n + 1); }
};
struct Fixed : Amount {
    int each;
    __device__ __noinline__ Fixed(int each) : each(each) {}
    __device__ int of(int n) const override { return each * n; }
};
struct Shifted : Fixed {
    using Fixed::Fixed;
    __device__ int of(int n) const override { return n * 3 - each; }
};

__device__ __noinline__ int total(const Amount &amount, int n) { return amount.twice(n); }

extern "C" __global__ void abstract_class(const signed char *a, int *out)
{
    int i = INDEX;
    Fixed fixed(a[i]);
    Shifted square(i & 7);
    out[i] = total(a[i] & 1 ? (const Amount &)fixed : square, a[i] >> 2);
}
