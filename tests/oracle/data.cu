// Structures, arrays, pointers, unions, constants, globals: where the data lies, and how it gets there.

#ifdef __clang__
#pragma clang fp contract(off)
#endif

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

struct Mixed {
    char tag;
    double weight;
    short count;
    unsigned char flags[3];
    float scale;
};

extern "C" __global__ void structure_by_value(const int *a, Mixed mixed, double *out)
{
    int i = INDEX;
    out[i] = a[i] * mixed.weight + mixed.tag + mixed.count * mixed.flags[i % 3] + (double)mixed.scale;
}

struct Inner {
    short low;
    long long high;
};
struct Outer {
    Inner pair[2];
    int last;
    const int *data;
};

__device__ __noinline__ Outer swapped(Outer outer)
{
    Inner first = outer.pair[0];
    outer.pair[0] = outer.pair[1];
    outer.pair[1] = first;
    outer.last++;
    return outer;
}

extern "C" __global__ void nested_structures(const short *a, const int *b, long long *out)
{
    int i = INDEX;
    Outer outer = {{{a[i], b[i]}, {(short)(a[i] + 1), 3ll * b[i]}}, i, b};
    Outer other = swapped(outer);
    out[3 * i] = other.pair[i & 1].high * 2 + other.pair[0].low;
    out[3 * i + 1] = (long long)other.last + other.data[(i + 1) & 255];
    out[3 * i + 2] = other.pair[1].high - outer.pair[1].high;
}

struct Point {
    float x, y, z;
};

__device__ __noinline__ float squared_length(const Point *points, int k) { return fmaf(points[k].x, points[k].x, fmaf(points[k].y, points[k].y, points[k].z)); }

extern "C" __global__ void array_of_structures(const float *a, const int *b, float *out)
{
    int i = INDEX;
    Point points[8];
    for (int k = 0; k < 8; k++)
        points[k] = {a[(i + k) & 255], (float)k, a[i] * (float)k};
    points[b[i] & 7].y = 100;
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += squared_length(points, (k * 3 + b[i]) & 7);
    out[i] = sum;
}

extern "C" __global__ void local_array(const unsigned *a, unsigned *out)
{
    int i = INDEX;
    unsigned counts[16];
    for (int k = 0; k < 16; k++)
        counts[k] = 0;
    unsigned seed = a[i];
    for (int k = 0; k < 40; k++) {
        seed = seed * 1664525u + 1013904223u;
        counts[seed >> 28] += k;
    }
    unsigned sum = 0;
    for (int k = 0; k < 16; k++)
        sum = sum * 31u + counts[k];
    out[i] = sum;
}

// Insertion sort in local memory, bytes.
extern "C" __global__ void sort_bytes(const unsigned *a, unsigned char *out)
{
    int i = INDEX;
    unsigned char row[12];
    unsigned seed = a[i];
    for (int k = 0; k < 12; k++) {
        seed = seed * 1664525u + 1013904223u;
        row[k] = (unsigned char)(seed >> 24);
    }
    for (int k = 1; k < 12; k++) {
        unsigned char value = row[k];
        int at = k;
        while (at > 0 && row[at - 1] > value) {
            row[at] = row[at - 1];
            at--;
        }
        row[at] = value;
    }
    for (int k = 0; k < 12; k++)
        out[12 * i + k] = row[k];
}

union Value {
    float f;
    unsigned u;
    unsigned short h[2];
    unsigned char b[4];
};

extern "C" __global__ void union_of_views(const unsigned *a, unsigned *out)
{
    int i = INDEX;
    Value value;
    value.u = a[i];
    value.b[i & 3] ^= 0x5a;
    value.h[1] = (unsigned short)(value.h[1] + value.h[0]);
    unsigned bits = value.u;
    value.f = (float)(bits & 0xffff);
    out[i] = value.u ^ bits;
}

extern "C" __global__ void bool_array(const int *a, const bool *b, bool *out)
{
    int i = INDEX;
    bool seen[32] = {};
    for (int k = 0; k < 8; k++)
        seen[(a[(i + k) & 255] >> k) & 31] ^= true;
    out[2 * i] = seen[a[i] & 31] != b[i];
    out[2 * i + 1] = b[i] && a[i];
}

__constant__ int primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
__constant__ double powers[4] = {1.0, 1e-3, 1e6, -2.5};
__constant__ char letters[] = "the quick brown fox";
__constant__ struct {
    short a;
    float b[2];
} pairs[3] = {{1, {0.5f, 1.5f}}, {-2, {2.5f, 3.5f}}, {300, {4.5f, -5.5f}}};

extern "C" __global__ void constant_tables(const unsigned *a, double *out)
{
    int i = INDEX;
    unsigned k = a[i];
    out[i] = primes[k & 15] * powers[k >> 4 & 3] + letters[(k >> 8) % 19] + (double)pairs[k % 3].b[k >> 31] + pairs[(k >> 3) % 3].a;
}

__device__ unsigned table[8] = {1, 20, 300, 4000, 50000, 600000, 7000000, 80000000};
__device__ short small = -3;
__device__ float scale = 1.25f;
__device__ unsigned *where = table + 2;
__device__ unsigned written[1024];

extern "C" __global__ void global_variables(const unsigned *a, float *out)
{
    int i = INDEX;
    written[i] = a[i];
    out[i] = (float)(table[a[i] & 7] + where[a[i] >> 3 & 3] + written[i] % 1000u) * scale + (float)small;
}

extern "C" __global__ void pointers_to_pointers(const int *a, int *out)
{
    int i = INDEX;
    int values[4] = {a[i], a[(i + 1) & 255], a[(i + 2) & 255], a[(i + 3) & 255]};
    int *order[4] = {values + 3, values + 1, values, values + 2};
    int **chosen = order + (a[i] & 3);
    **chosen ^= 0x55;
    int **swap = &order[a[i] >> 2 & 3];
    int *held = *swap;
    *swap = *chosen;
    *chosen = held;
    out[i] = (*order[0] ^ *order[1]) + (order[2] - values) * 1000 + (int)(order[3] > values);
}

// A generic pointer that may point to local or to global memory.
extern "C" __global__ void pointer_to_either(const int *a, int *out)
{
    int i = INDEX;
    int local[4] = {i, i * 2, i * 3, i * 4};
    const int *from = a[i] & 1 ? a + (i & 252) : local;
    int sum = 0;
    for (int k = 0; k < 4; k++)
        sum ^= from[k] + k;
    out[i] = sum;
}

extern "C" __global__ void vectors(const float *a, const int *b, float *out, int *ints)
{
    int i = INDEX;
    float4 four = ((const float4 *)a)[i & 63];
    float2 two = ((const float2 *)a)[i & 127];
    int4 whole = ((const int4 *)b)[i & 63];
    ((float4 *)out)[i] = make_float4(four.w, two.y, four.x - two.x, four.z);
    whole.y ^= whole.x;
    ((int4 *)ints)[i] = whole;
}

extern "C" __global__ void char_arrays(const unsigned *a, char *out)
{
    int i = INDEX;
    char text[12];
    unsigned value = a[i];
    int n = 0;
    do {
        text[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    for (int k = 0; k < 12; k++)
        out[12 * i + k] = k < n ? text[n - 1 - k] : ' ';
}

extern "C" __global__ void volatile_data(const int *a, int *out)
{
    int i = INDEX;
    volatile int local = a[i];
    volatile int *there = out + i;
    *there = local;
    local = *there + 1;
    *there = local ^ *there;
}

// Unaligned fields of a packed structure, byte by byte.
struct __attribute__((packed)) Packed {
    char a;
    int b;
    short c;
    double d;
};

extern "C" __global__ void packed_structure(const unsigned char *a, double *out)
{
    int i = INDEX;
    Packed packed[2];
    packed[0] = {(char)a[i], a[i] * 1000003, (short)(a[i] * 257), a[i] * 0.125};
    packed[1] = {(char)(a[i] ^ 3), (int)a[i], (short)-a[i], a[i] * 3.5};
    Packed &chosen = packed[a[i] >> 1 & 1];
    chosen.b += chosen.c;
    out[i] = packed[0].b + packed[1].d + packed[0].a + packed[1].c + packed[a[i] & 1].d;
}

extern "C" __global__ void atomics(const unsigned *a, unsigned *out)
{
    int i = INDEX;
    unsigned *mine = out + 4 * i;
    mine[0] = atomicAdd(mine + 1, a[i]) + atomicAdd(mine + 1, 5u);
    atomicMax((int *)mine + 2, (int)a[i]);
    atomicMin((int *)mine + 2, 1000);
    atomicXor(mine + 3, a[i]);
    atomicOr(mine + 3, 1u);
}

extern "C" __global__ void atomics_64(const unsigned long long *a, unsigned long long *out)
{
    int i = INDEX;
    unsigned long long *mine = out + 3 * i;
    mine[0] = atomicAdd(mine + 1, a[i]) ^ atomicAdd(mine + 1, a[i]);
    atomicMax(mine + 2, a[i]);
    atomicXor(mine + 2, 0x123456789abcdefull);
}
