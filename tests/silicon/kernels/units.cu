// Multiply-adds as the public benchmarks of peaks do them: two values a thread, each made from the other in turn. And
// chains of one thread, which show a latency.
#include <cuda_fp16.h>
#include <mma.h>

constexpr int PAIRS = 64;

__device__ __forceinline__ __half2 product_sum(__half2 a, __half2 b, __half2 c) { return __hfma2(a, b, c); }
__device__ __forceinline__ float product_sum(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double product_sum(double a, double b, double c) { return fma(a, b, c); }
// In C++ a compiler may make (x + 1) * y of y * x + y; the benchmarks' machine code has multiply-adds.
__device__ __forceinline__ int product_sum(int a, int b, int c)
{
    int d;
    asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
__device__ __forceinline__ long long product_sum(long long a, long long b, long long c)
{
    long long d;
    asm("mad.lo.s64 %0, %1, %2, %3;" : "=l"(d) : "l"(a), "l"(b), "l"(c));
    return d;
}

template <class T> __device__ __forceinline__ T number(int n) { return T(n); }
template <> __device__ __forceinline__ __half2 number<__half2>(int n) { return __float2half2_rn(n); }

// 128 multiply-adds a thread and trip.
template <class T> __global__ void multiply_add(T *out, int trips)
{
    T x = number<T>(threadIdx.x), y = number<T>(blockIdx.x + 1);
#pragma unroll 1
    for (int trip = 0; trip < trips; trip++) {
#pragma unroll
        for (int k = 0; k < PAIRS; k++) {
            x = product_sum(y, x, y);
            y = product_sum(x, y, x);
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = y;
}

__device__ __forceinline__ int low_word(__half2 value) { return *reinterpret_cast<int *>(&value); }
__device__ __forceinline__ int low_word(float value) { return __float_as_int(value); }
__device__ __forceinline__ int low_word(double value) { return __float_as_int(static_cast<float>(value)); }
__device__ __forceinline__ int low_word(int value) { return value; }
__device__ __forceinline__ int low_word(long long value) { return static_cast<int>(value); }

// Two multiply-adds a thread and turn. Of a longer result only 32 bits are used.
template <class T, int TURNS> __global__ void multiply_add_in_blocks(int *out)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    T x = number<T>(thread), y = number<T>(threadIdx.x);
    for (int turn = 0; turn < TURNS; turn++) {
        x = product_sum(y, x, y);
        y = product_sum(x, y, x);
    }
    out[thread] = low_word(y);
}

// Products of 8 x 8 x 4 doubles, four of a warp in turn.
__global__ void multiply_matrices(double *out, int trips)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 8, 8, 4, double, row_major> a;
    fragment<matrix_b, 8, 8, 4, double, col_major> b;
    fragment<accumulator, 8, 8, 4, double> sums[4];
    fill_fragment(a, 1.0);
    fill_fragment(b, 0.5);
    for (auto &sum : sums) fill_fragment(sum, threadIdx.x / 32);
#pragma unroll 1
    for (int trip = 0; trip < trips; trip++)
        for (auto &sum : sums) mma_sync(sum, a, b, sum);
    double *first = out + (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 256;
    for (int k = 0; k < 4; k++) store_matrix_sync(first + 64 * k, sums[k], 8, mem_row_major);
}

__device__ __forceinline__ void multiply(float (&sums)[4], const unsigned *a, const unsigned *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ __forceinline__ void multiply(unsigned (&sums)[2], const unsigned *a, const unsigned *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(sums[0]), "+r"(sums[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Products of 16 x 8 x 16 halves, eight of a warp in turn, with WORDS of sums a thread: four floats, or two pairs of halves.
template <class T, int WORDS> __global__ void multiply_halves(T *out, int trips)
{
    const unsigned lane = threadIdx.x % 32;
    const unsigned a[4] = {lane, lane, lane, lane}, b[2] = {lane, lane};
    T sums[8][WORDS] = {};
    for (int trip = 0; trip < trips; trip++)
#pragma unroll
        for (auto &each : sums) multiply(each, a, b);
    T sum = 0;
    for (auto &each : sums)
        for (T word : each) sum += word;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// A chain of one operation: 64 a trip.
__global__ void chain_of_products_and_sums(double *out, double factor, int trips)
{
    double x = factor;
#pragma unroll 1
    for (int trip = 0; trip < trips; trip++)
#pragma unroll
        for (int k = 0; k < PAIRS; k++) x = fma(x, factor, factor);
    out[threadIdx.x] = x;
}

__global__ void chain_of_sums(double *out, double factor, int trips)
{
    double x = factor;
#pragma unroll 1
    for (int trip = 0; trip < trips; trip++)
#pragma unroll
        for (int k = 0; k < PAIRS; k++) x = x + factor;
    out[threadIdx.x] = x;
}

__global__ void chain_of_products(double *out, double factor, int trips)
{
    double x = factor;
#pragma unroll 1
    for (int trip = 0; trip < trips; trip++)
#pragma unroll
        for (int k = 0; k < PAIRS; k++) x = x * factor;
    out[threadIdx.x] = x;
}
