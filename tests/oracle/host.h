// CUDA for the host: enough of the language to run a kernel without barriers one thread after the other.
// Force-included before a kernel file, in place of the device's headers.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

typedef decltype(sizeof(0)) size_t;

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
};
struct __align__(8) float2 {
    float x, y;
};
struct __align__(16) float4 {
    float x, y, z, w;
};
struct __align__(8) int2 {
    int x, y;
};
struct __align__(16) int4 {
    int x, y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;

// --- what CUDA declares by itself

extern "C" float fmaf(float, float, float);
extern "C" double fma(double, double, double);
extern "C" float sqrtf(float);
extern "C" double sqrt(double);
extern "C" float fabsf(float);
extern "C" double fabs(double);
extern "C" float floorf(float);
extern "C" double floor(double);
extern "C" float ceilf(float);
extern "C" double ceil(double);
extern "C" float truncf(float);
extern "C" double trunc(double);
extern "C" float rintf(float);
extern "C" double rint(double);
extern "C" float copysignf(float, float);
extern "C" double copysign(double, double);
extern "C" float fmodf(float, float);
extern "C" double fmod(double, double);
extern "C" float ldexpf(float, int);

template <class T> inline T min(T a, T b) { return b < a ? b : a; }
template <class T> inline T max(T a, T b) { return a < b ? b : a; }
inline int abs(int a) { return a < 0 ? -a : a; }

// A NaN loses against a number; of two zeros the negative one is the smaller.
inline float fminf(float a, float b) { return a != a ? b : b != b ? a : a == b ? (__builtin_signbit(a) ? a : b) : a < b ? a : b; }
inline float fmaxf(float a, float b) { return a != a ? b : b != b ? a : a == b ? (__builtin_signbit(a) ? b : a) : a < b ? b : a; }
inline double fmin(double a, double b) { return a != a ? b : b != b ? a : a == b ? (__builtin_signbit(a) ? a : b) : a < b ? a : b; }
inline double fmax(double a, double b) { return a != a ? b : b != b ? a : a == b ? (__builtin_signbit(a) ? b : a) : a < b ? b : a; }
inline bool isnan(float a) { return a != a; }
inline bool isnan(double a) { return a != a; }

inline int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
inline unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
inline float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
inline float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
inline long long __double_as_longlong(double a) { return __builtin_bit_cast(long long, a); }
inline double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }

inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline int __clz(int a) { return a ? __builtin_clz(a) : 32; }
inline int __clzll(long long a) { return a ? __builtin_clzll(a) : 64; }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __ffsll(long long a) { return __builtin_ffsll(a); }
inline unsigned __brev(unsigned a) { return __builtin_bitreverse32(a); }
inline unsigned long long __brevll(unsigned long long a) { return __builtin_bitreverse64(a); }
inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
inline int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
inline unsigned __sad(int a, int b, unsigned c) { return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c; }
inline int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
inline int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) { return (unsigned)(((unsigned long long)hi << 32 | lo) << (s & 31) >> 32); }
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) { return (unsigned)(((unsigned long long)hi << 32 | lo) >> (s & 31)); }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
    unsigned long long bytes = (unsigned long long)b << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++)
        result |= (unsigned)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}

template <class T> inline T __ldg(const T *p) { return *p; }
template <class T> inline T atomicAdd(T *p, T v) { T old = *p; *p = old + v; return old; }
template <class T> inline T atomicMax(T *p, T v) { T old = *p; *p = max(old, v); return old; }
template <class T> inline T atomicMin(T *p, T v) { T old = *p; *p = min(old, v); return old; }
template <class T> inline T atomicXor(T *p, T v) { T old = *p; *p = old ^ v; return old; }
template <class T> inline T atomicOr(T *p, T v) { T old = *p; *p = old | v; return old; }

extern "C" inline void __cxa_pure_virtual() { __builtin_trap(); }

// --- the launch: shape is grid x, y, z, block x, y, z; arguments points to each parameter, as for cudaLaunchKernel

template <class T, T... I> struct oracle_numbers {
};
template <class... Args, int... I> inline void oracle_call(void (*kernel)(Args...), void **arguments, oracle_numbers<int, I...>)
{
    kernel(*(Args *)arguments[I]...);
}

template <class... Args> inline void oracle_launch(void (*kernel)(Args...), const unsigned *shape, void **arguments)
{
    gridDim = {shape[0], shape[1], shape[2]};
    blockDim = {shape[3], shape[4], shape[5]};
    uint3 b, t;
    for (b.z = 0; b.z < gridDim.z; b.z++)
    for (b.y = 0; b.y < gridDim.y; b.y++)
    for (b.x = 0; b.x < gridDim.x; b.x++)
    for (t.z = 0; t.z < blockDim.z; t.z++)
    for (t.y = 0; t.y < blockDim.y; t.y++)
    for (t.x = 0; t.x < blockDim.x; t.x++) {
        blockIdx = b;
        threadIdx = t;
        oracle_call(kernel, arguments, __make_integer_seq<oracle_numbers, int, sizeof...(Args)>());
    }
}
