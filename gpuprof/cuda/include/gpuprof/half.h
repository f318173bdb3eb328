// 16-bit floating point: __half, __half2, __nv_bfloat16, __nv_bfloat162. The compiler's own 16-bit types do the arithmetic.
#pragma once

#include "language.h"

typedef _Float16 gpuprof_half_pair __attribute__((ext_vector_type(2)));
typedef __bf16 gpuprof_bfloat_pair __attribute__((ext_vector_type(2)));

// Only the bits.
struct __half_raw {
    unsigned short x;
};
struct __half2_raw {
    unsigned short x, y;
};
typedef struct __nv_bfloat16_raw {
    unsigned short x;
} __nv_bfloat16_raw;
typedef struct __nv_bfloat162_raw {
    unsigned short x, y;
} __nv_bfloat162_raw;

// A scalar of 16 bits: implicit from and to float, explicit from and to the rest, as CUDA's headers have it.
#define GPUPROF_HALF(NAME, RAW, BITS)                                                                                                      \
    struct NAME {                                                                                                                          \
        RAW gpuprof_raw;                                                                                                                   \
        NAME() = default;                                                                                                                  \
        GPUPROF_MEMBER NAME(float v) : gpuprof_raw((RAW)v) {}                                                                              \
        GPUPROF_MEMBER NAME(double v) : gpuprof_raw((RAW)v) {}                                                                             \
        GPUPROF_MEMBER NAME(int v) : gpuprof_raw((RAW)(float)v) {}                                                                         \
        GPUPROF_MEMBER NAME(unsigned int v) : gpuprof_raw((RAW)(float)v) {}                                                                \
        GPUPROF_MEMBER NAME(short v) : gpuprof_raw((RAW)(float)v) {}                                                                       \
        GPUPROF_MEMBER NAME(unsigned short v) : gpuprof_raw((RAW)(float)v) {}                                                              \
        GPUPROF_MEMBER NAME(long v) : gpuprof_raw((RAW)(float)v) {}                                                                        \
        GPUPROF_MEMBER NAME(unsigned long v) : gpuprof_raw((RAW)(float)v) {}                                                               \
        GPUPROF_MEMBER NAME(BITS v) : gpuprof_raw(__builtin_bit_cast(RAW, v)) {}                                                           \
        GPUPROF_MEMBER operator BITS() const { return __builtin_bit_cast(BITS, gpuprof_raw); }                                             \
        GPUPROF_MEMBER NAME(long long v) : gpuprof_raw((RAW)(float)v) {}                                                                   \
        GPUPROF_MEMBER NAME(unsigned long long v) : gpuprof_raw((RAW)(float)v) {}                                                          \
        GPUPROF_MEMBER operator float() const { return (float)gpuprof_raw; }                                                               \
        GPUPROF_MEMBER explicit operator int() const { return (int)(float)gpuprof_raw; }                                                   \
        GPUPROF_MEMBER explicit operator unsigned int() const { return (unsigned int)(float)gpuprof_raw; }                                 \
        GPUPROF_MEMBER explicit operator bool() const { return (float)gpuprof_raw != 0.0f; }                                               \
        __declspec(property(get = gpuprof_bits, put = gpuprof_set_bits)) unsigned short __x;                                               \
        constexpr GPUPROF_MEMBER unsigned short gpuprof_bits() const { return __builtin_bit_cast(unsigned short, gpuprof_raw); }           \
        constexpr GPUPROF_MEMBER void gpuprof_set_bits(unsigned short v) { gpuprof_raw = __builtin_bit_cast(RAW, v); }                     \
        static GPUPROF_MEMBER NAME gpuprof_of(RAW v)                                                                                       \
        {                                                                                                                                  \
            NAME r;                                                                                                                        \
            r.gpuprof_raw = v;                                                                                                             \
            return r;                                                                                                                      \
        }                                                                                                                                  \
    };                                                                                                                                     \
    GPUPROF_HALF_OPERATOR(NAME, +)                                                                                                         \
    GPUPROF_HALF_OPERATOR(NAME, -)                                                                                                         \
    GPUPROF_HALF_OPERATOR(NAME, *)                                                                                                         \
    GPUPROF_HALF_OPERATOR(NAME, /)                                                                                                         \
    GPUPROF_HALF_COMPARISON(NAME, ==)                                                                                                      \
    GPUPROF_HALF_COMPARISON(NAME, !=)                                                                                                      \
    GPUPROF_HALF_COMPARISON(NAME, <)                                                                                                       \
    GPUPROF_HALF_COMPARISON(NAME, <=)                                                                                                      \
    GPUPROF_HALF_COMPARISON(NAME, >)                                                                                                       \
    GPUPROF_HALF_COMPARISON(NAME, >=)                                                                                                      \
    GPUPROF_BOTH NAME operator-(NAME a) { return NAME::gpuprof_of(-a.gpuprof_raw); }                                                       \
    GPUPROF_BOTH NAME operator+(NAME a) { return a; }                                                                                      \
    GPUPROF_BOTH NAME &operator++(NAME & a) { return a = a + NAME(1); }                                                                    \
    GPUPROF_BOTH NAME &operator--(NAME & a) { return a = a - NAME(1); }                                                                    \
    GPUPROF_BOTH NAME operator++(NAME & a, int)                                                                                            \
    {                                                                                                                                      \
        NAME before = a;                                                                                                                   \
        ++a;                                                                                                                               \
        return before;                                                                                                                     \
    }                                                                                                                                      \
    GPUPROF_BOTH NAME operator--(NAME & a, int)                                                                                            \
    {                                                                                                                                      \
        NAME before = a;                                                                                                                   \
        --a;                                                                                                                               \
        return before;                                                                                                                     \
    }

#define GPUPROF_HALF_OPERATOR(NAME, OP)                                                                                                    \
    GPUPROF_BOTH NAME operator OP(NAME a, NAME b) { return NAME::gpuprof_of(a.gpuprof_raw OP b.gpuprof_raw); }                             \
    GPUPROF_BOTH NAME &operator OP##=(NAME & a, NAME b) { return a = a OP b; }
#define GPUPROF_HALF_COMPARISON(NAME, OP)                                                                                                  \
    GPUPROF_BOTH bool operator OP(NAME a, NAME b) { return a.gpuprof_raw OP b.gpuprof_raw; }

// Two of them in 4 bytes; arithmetic on both at once.
#define GPUPROF_HALF2(NAME, SCALAR, PAIR, BITS)                                                                                            \
    struct __align__(4) NAME {                                                                                                             \
        SCALAR x, y;                                                                                                                       \
        NAME() = default;                                                                                                                  \
        GPUPROF_MEMBER NAME(BITS v) { *this = __builtin_bit_cast(NAME, v); }                                                               \
        GPUPROF_MEMBER operator BITS() const { return __builtin_bit_cast(BITS, *this); }                                                   \
        GPUPROF_MEMBER NAME(SCALAR a, SCALAR b) : x(a), y(b) {}                                                                            \
        GPUPROF_MEMBER PAIR gpuprof_pair() const { return __builtin_bit_cast(PAIR, *this); }                                               \
        static GPUPROF_MEMBER NAME gpuprof_of(PAIR v) { return __builtin_bit_cast(NAME, v); }                                              \
    };                                                                                                                                     \
    GPUPROF_HALF2_OPERATOR(NAME, +)                                                                                                        \
    GPUPROF_HALF2_OPERATOR(NAME, -)                                                                                                        \
    GPUPROF_HALF2_OPERATOR(NAME, *)                                                                                                        \
    GPUPROF_HALF2_OPERATOR(NAME, /)                                                                                                        \
    GPUPROF_BOTH NAME operator-(NAME a) { return NAME::gpuprof_of(-a.gpuprof_pair()); }                                                    \
    GPUPROF_HALF2_COMPARISON(NAME, ==)                                                                                                     \
    GPUPROF_HALF2_COMPARISON(NAME, !=)                                                                                                     \
    GPUPROF_HALF2_COMPARISON(NAME, <)                                                                                                      \
    GPUPROF_HALF2_COMPARISON(NAME, <=)                                                                                                     \
    GPUPROF_HALF2_COMPARISON(NAME, >)                                                                                                      \
    GPUPROF_HALF2_COMPARISON(NAME, >=)

#define GPUPROF_HALF2_OPERATOR(NAME, OP)                                                                                                   \
    GPUPROF_BOTH NAME operator OP(NAME a, NAME b) { return NAME::gpuprof_of(a.gpuprof_pair() OP b.gpuprof_pair()); }                       \
    GPUPROF_BOTH NAME &operator OP##=(NAME & a, NAME b) { return a = a OP b; }

// True where it is for both.
#define GPUPROF_HALF2_COMPARISON(NAME, OP)                                                                                                 \
    GPUPROF_BOTH bool operator OP(NAME a, NAME b) { return a.x OP b.x && a.y OP b.y; }

// The functions that both kinds have under the same names.
#define GPUPROF_HALF_FUNCTIONS(S, V, RAW, PAIR)                                                                                            \
    GPUPROF_BOTH S __hadd(S a, S b) { return a + b; }                                                                                      \
    GPUPROF_BOTH S __hsub(S a, S b) { return a - b; }                                                                                      \
    GPUPROF_BOTH S __hmul(S a, S b) { return a * b; }                                                                                      \
    GPUPROF_BOTH S __hdiv(S a, S b) { return a / b; }                                                                                      \
    GPUPROF_BOTH S __hneg(S a) { return -a; }                                                                                              \
    GPUPROF_BOTH S __habs(S a) { return S::gpuprof_of(__builtin_elementwise_abs(a.gpuprof_raw)); }                                         \
    GPUPROF_BOTH S __hfma(S a, S b, S c) { return S::gpuprof_of(__builtin_elementwise_fma(a.gpuprof_raw, b.gpuprof_raw, c.gpuprof_raw)); } \
    GPUPROF_BOTH S __hmin(S a, S b) { return S::gpuprof_of(__builtin_elementwise_minnum(a.gpuprof_raw, b.gpuprof_raw)); }                  \
    GPUPROF_BOTH S __hmax(S a, S b) { return S::gpuprof_of(__builtin_elementwise_maxnum(a.gpuprof_raw, b.gpuprof_raw)); }                  \
    GPUPROF_BOTH bool __heq(S a, S b) { return a == b; }                                                                                   \
    GPUPROF_BOTH bool __hne(S a, S b) { return a != b; }                                                                                   \
    GPUPROF_BOTH bool __hlt(S a, S b) { return a < b; }                                                                                    \
    GPUPROF_BOTH bool __hle(S a, S b) { return a <= b; }                                                                                   \
    GPUPROF_BOTH bool __hgt(S a, S b) { return a > b; }                                                                                    \
    GPUPROF_BOTH bool __hge(S a, S b) { return a >= b; }                                                                                   \
    GPUPROF_BOTH bool __hisnan(S a) { return a != a; }                                                                                     \
    GPUPROF_BOTH V __hadd2(V a, V b) { return a + b; }                                                                                     \
    GPUPROF_BOTH V __hsub2(V a, V b) { return a - b; }                                                                                     \
    GPUPROF_BOTH V __hmul2(V a, V b) { return a * b; }                                                                                     \
    GPUPROF_BOTH V __h2div(V a, V b) { return a / b; }                                                                                     \
    GPUPROF_BOTH V __hneg2(V a) { return -a; }                                                                                             \
    GPUPROF_BOTH V __habs2(V a) { return V::gpuprof_of(__builtin_elementwise_abs(a.gpuprof_pair())); }                                     \
    GPUPROF_BOTH V __hfma2(V a, V b, V c)                                                                                                  \
    {                                                                                                                                      \
        return V::gpuprof_of(__builtin_elementwise_fma(a.gpuprof_pair(), b.gpuprof_pair(), c.gpuprof_pair()));                             \
    }                                                                                                                                      \
    GPUPROF_BOTH V __hmin2(V a, V b) { return V::gpuprof_of(__builtin_elementwise_minnum(a.gpuprof_pair(), b.gpuprof_pair())); }           \
    GPUPROF_BOTH V __hmax2(V a, V b) { return V::gpuprof_of(__builtin_elementwise_maxnum(a.gpuprof_pair(), b.gpuprof_pair())); }

GPUPROF_HALF(__half, _Float16, __half_raw)
GPUPROF_HALF2(__half2, __half, gpuprof_half_pair, __half2_raw)
GPUPROF_HALF_FUNCTIONS(__half, __half2, _Float16, gpuprof_half_pair)
GPUPROF_HALF(__nv_bfloat16, __bf16, __nv_bfloat16_raw)
GPUPROF_HALF2(__nv_bfloat162, __nv_bfloat16, gpuprof_bfloat_pair, __nv_bfloat162_raw)
GPUPROF_HALF_FUNCTIONS(__nv_bfloat16, __nv_bfloat162, __bf16, gpuprof_bfloat_pair)
#undef GPUPROF_HALF
#undef GPUPROF_HALF_OPERATOR
#undef GPUPROF_HALF_COMPARISON
#undef GPUPROF_HALF2
#undef GPUPROF_HALF2_OPERATOR
#undef GPUPROF_HALF2_COMPARISON
#undef GPUPROF_HALF_FUNCTIONS

// --- conversions ---

// Two floats at once. LLVM moves conversions of its own behind the meeting of ways, as those of a loop's turn into the next
// turn, where two registers would hold what is one here; nvcc's headers have inline assembly, which stays.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
GPUPROF_MEMBER gpuprof_half_pair gpuprof_halves(float a, float b) { return __builtin_bit_cast(gpuprof_half_pair, __nvvm_ff2f16x2_rn(b, a)); }
GPUPROF_MEMBER gpuprof_bfloat_pair gpuprof_bfloats(float a, float b)
{
    return __builtin_bit_cast(gpuprof_bfloat_pair, __nvvm_ff2bf16x2_rn(b, a));
}
#else
GPUPROF_BOTH gpuprof_half_pair gpuprof_halves(float a, float b) { return {(_Float16)a, (_Float16)b}; }
GPUPROF_BOTH gpuprof_bfloat_pair gpuprof_bfloats(float a, float b) { return {(__bf16)a, (__bf16)b}; }
#endif

GPUPROF_BOTH __half __float2half(float v) { return __half(v); }
GPUPROF_BOTH __half __float2half_rn(float v) { return __half(v); }
GPUPROF_BOTH __half __double2half(double v) { return __half(v); }
GPUPROF_BOTH float __half2float(__half v) { return (float)v; }
GPUPROF_BOTH __half2 __floats2half2_rn(float a, float b) { return __half2::gpuprof_of(gpuprof_halves(a, b)); }
GPUPROF_BOTH __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
GPUPROF_BOTH __half2 __float2half2_rn(float v) { return __floats2half2_rn(v, v); }
GPUPROF_BOTH float2 __half22float2(__half2 v) { return {(float)v.x, (float)v.y}; }
GPUPROF_BOTH __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
GPUPROF_BOTH __half2 __half2half2(__half a) { return __half2(a, a); }
GPUPROF_BOTH __half2 make_half2(__half a, __half b) { return __half2(a, b); }
GPUPROF_BOTH __half __low2half(__half2 v) { return v.x; }
GPUPROF_BOTH __half __high2half(__half2 v) { return v.y; }
GPUPROF_BOTH float __low2float(__half2 v) { return (float)v.x; }
GPUPROF_BOTH float __high2float(__half2 v) { return (float)v.y; }
GPUPROF_BOTH __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
GPUPROF_BOTH __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
GPUPROF_BOTH __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }
GPUPROF_BOTH short __half_as_short(__half v) { return __builtin_bit_cast(short, v); }
GPUPROF_BOTH unsigned short __half_as_ushort(__half v) { return __builtin_bit_cast(unsigned short, v); }
GPUPROF_BOTH __half __short_as_half(short v) { return __builtin_bit_cast(__half, v); }
GPUPROF_BOTH __half __ushort_as_half(unsigned short v) { return __builtin_bit_cast(__half, v); }

GPUPROF_BOTH __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
GPUPROF_BOTH __nv_bfloat16 __float2bfloat16_rn(float v) { return __nv_bfloat16(v); }
GPUPROF_BOTH float __bfloat162float(__nv_bfloat16 v) { return (float)v; }
GPUPROF_BOTH __nv_bfloat162 __floats2bfloat162_rn(float a, float b)
{
    return __nv_bfloat162::gpuprof_of(gpuprof_bfloats(a, b));
}
GPUPROF_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
GPUPROF_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
GPUPROF_BOTH float2 __bfloat1622float2(__nv_bfloat162 v) { return {(float)v.x, (float)v.y}; }
GPUPROF_BOTH float __low2float(__nv_bfloat162 v) { return (float)v.x; }
GPUPROF_BOTH float __high2float(__nv_bfloat162 v) { return (float)v.y; }
GPUPROF_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return __builtin_bit_cast(unsigned short, v); }
GPUPROF_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { return __builtin_bit_cast(__nv_bfloat16, v); }
