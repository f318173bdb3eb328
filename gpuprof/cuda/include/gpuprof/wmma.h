// nvcuda::wmma over PTX's wmma instructions: fragments, loads, stores, mma_sync and bmma_sync, in every shape and type.
#pragma once

#include "cuda.h"

#define GPUPROF_WMMA static inline __attribute__((device, always_inline, nodebug))

// The operands of an instruction, n registers of an array X, by name: the text, the inputs, the outputs.
#define GPUPROF_TEXT1(X) "{%[" #X "0]}"
#define GPUPROF_TEXT2(X) "{%[" #X "0], %[" #X "1]}"
#define GPUPROF_TEXT4(X) "{%[" #X "0], %[" #X "1], %[" #X "2], %[" #X "3]}"
#define GPUPROF_TEXT8(X) "{%[" #X "0], %[" #X "1], %[" #X "2], %[" #X "3], %[" #X "4], %[" #X "5], %[" #X "6], %[" #X "7]}"
#define GPUPROF_IN1(X, R) [X##0] R(X[0])
#define GPUPROF_IN2(X, R) GPUPROF_IN1(X, R), [X##1] R(X[1])
#define GPUPROF_IN4(X, R) GPUPROF_IN2(X, R), [X##2] R(X[2]), [X##3] R(X[3])
#define GPUPROF_IN8(X, R) GPUPROF_IN4(X, R), [X##4] R(X[4]), [X##5] R(X[5]), [X##6] R(X[6]), [X##7] R(X[7])

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}

template <typename Use, int m, int n, int k, typename T, typename Layout = void> class fragment;

// The part of a lane: COUNT elements, stored as STORED.
#define GPUPROF_FRAGMENT(USE, M, N, K, T, LAYOUT, STORED, COUNT, STORED_COUNT)                                                             \
    template <> class fragment<USE, M, N, K, T, LAYOUT> {                                                                                  \
    public:                                                                                                                                \
        typedef T element_type;                                                                                                            \
        typedef STORED storage_element_type;                                                                                               \
        enum { num_elements = COUNT, num_storage_elements = STORED_COUNT };                                                                \
        STORED x[STORED_COUNT];                                                                                                            \
    };

#define GPUPROF_LOAD(USE, ROLE, M, N, K, T, LAYOUT, ORDER, PTX, POINTED, WORD, REGISTERS, OUT)                                             \
    GPUPROF_WMMA void load_matrix_sync(fragment<USE, M, N, K, T, LAYOUT> &f, const POINTED *p, unsigned ldm)                               \
    {                                                                                                                                      \
        WORD w[REGISTERS];                                                                                                                 \
        asm volatile("wmma.load." ROLE ".sync.aligned." ORDER ".m" #M "n" #N "k" #K "." PTX " " GPUPROF_TEXT##REGISTERS(w) ", [%[p]], %[l];" \
                     : GPUPROF_IN##REGISTERS(w, "=" OUT)                                                                                   \
                     : [p] "l"(p), [l] "r"(ldm)                                                                                            \
                     : "memory");                                                                                                          \
        __builtin_memcpy(f.x, w, sizeof(w));                                                                                               \
    }

#define GPUPROF_OPERAND(USE, ROLE, M, N, K, T, LAYOUT, ORDER, PTX, POINTED, STORED, WORD, REGISTERS, OUT, COUNT)                           \
    GPUPROF_FRAGMENT(USE, M, N, K, T, LAYOUT, STORED, COUNT, sizeof(WORD) * REGISTERS / sizeof(STORED))                                    \
    GPUPROF_LOAD(USE, ROLE, M, N, K, T, LAYOUT, ORDER, PTX, POINTED, WORD, REGISTERS, OUT)

// A and B of a shape in both orders. COUNT: elements of 32 bits.
#define GPUPROF_OPERANDS(M, N, K, T, PTX, POINTED, STORED, WORD, OUT, A, B, COUNT)                                                         \
    GPUPROF_OPERAND(matrix_a, "a", M, N, K, T, row_major, "row", PTX, POINTED, STORED, WORD, A, OUT, A * COUNT)                            \
    GPUPROF_OPERAND(matrix_a, "a", M, N, K, T, col_major, "col", PTX, POINTED, STORED, WORD, A, OUT, A * COUNT)                            \
    GPUPROF_OPERAND(matrix_b, "b", M, N, K, T, row_major, "row", PTX, POINTED, STORED, WORD, B, OUT, B * COUNT)                            \
    GPUPROF_OPERAND(matrix_b, "b", M, N, K, T, col_major, "col", PTX, POINTED, STORED, WORD, B, OUT, B * COUNT)

#define GPUPROF_SUMS(M, N, K, T, PTX, WORD, REGISTERS, R, COUNT)                                                                           \
    GPUPROF_FRAGMENT(accumulator, M, N, K, T, void, T, COUNT, COUNT)                                                                       \
    GPUPROF_WMMA void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const T *p, unsigned ldm, layout_t layout)                    \
    {                                                                                                                                      \
        WORD w[REGISTERS];                                                                                                                 \
        if (layout == mem_row_major)                                                                                                       \
            asm volatile("wmma.load.c.sync.aligned.row.m" #M "n" #N "k" #K "." PTX " " GPUPROF_TEXT##REGISTERS(w) ", [%[p]], %[l];"        \
                         : GPUPROF_IN##REGISTERS(w, "=" R) : [p] "l"(p), [l] "r"(ldm) : "memory");                                         \
        else                                                                                                                               \
            asm volatile("wmma.load.c.sync.aligned.col.m" #M "n" #N "k" #K "." PTX " " GPUPROF_TEXT##REGISTERS(w) ", [%[p]], %[l];"        \
                         : GPUPROF_IN##REGISTERS(w, "=" R) : [p] "l"(p), [l] "r"(ldm) : "memory");                                         \
        __builtin_memcpy(f.x, w, sizeof(w));                                                                                               \
    }                                                                                                                                      \
    GPUPROF_WMMA void store_matrix_sync(T *p, const fragment<accumulator, M, N, K, T> &f, unsigned ldm, layout_t layout)                   \
    {                                                                                                                                      \
        WORD w[REGISTERS];                                                                                                                 \
        __builtin_memcpy(w, f.x, sizeof(w));                                                                                               \
        if (layout == mem_row_major)                                                                                                       \
            asm volatile("wmma.store.d.sync.aligned.row.m" #M "n" #N "k" #K "." PTX " [%[p]], " GPUPROF_TEXT##REGISTERS(w) ", %[l];"       \
                         : : [p] "l"(p), [l] "r"(ldm), GPUPROF_IN##REGISTERS(w, R) : "memory");                                            \
        else                                                                                                                               \
            asm volatile("wmma.store.d.sync.aligned.col.m" #M "n" #N "k" #K "." PTX " [%[p]], " GPUPROF_TEXT##REGISTERS(w) ", %[l];"       \
                         : : [p] "l"(p), [l] "r"(ldm), GPUPROF_IN##REGISTERS(w, R) : "memory");                                            \
    }

// One multiplication: the fragments' words in, the instruction, D's words out. ORDERS are those of A and B.
#define GPUPROF_MULTIPLY(TEXT, WORD, R, ND, NA, NB, NC)                                                                                    \
    {                                                                                                                                      \
        WORD d[ND], a[NA], b[NB], c[NC];                                                                                                   \
        __builtin_memcpy(a, fa.x, sizeof(a));                                                                                              \
        __builtin_memcpy(b, fb.x, sizeof(b));                                                                                              \
        __builtin_memcpy(c, fc.x, sizeof(c));                                                                                              \
        asm volatile(TEXT " " GPUPROF_TEXT##ND(d) ", " GPUPROF_TEXT##NA(a) ", " GPUPROF_TEXT##NB(b) ", " GPUPROF_TEXT##NC(c) ";"          \
                     : GPUPROF_IN##ND(d, "=" R)                                                                                            \
                     : GPUPROF_IN##NA(a, R), GPUPROF_IN##NB(b, R), GPUPROF_IN##NC(c, R));                                                  \
        __builtin_memcpy(fd.x, d, sizeof(d));                                                                                              \
    }

#define GPUPROF_PRODUCT(M, N, K, T, LA, LB, ORDERS, D, C, TYPES, WORD, R, ND, NA, NB, NC)                                                  \
    GPUPROF_WMMA void mma_sync(fragment<accumulator, M, N, K, D> &fd, const fragment<matrix_a, M, N, K, T, LA> &fa,                        \
                               const fragment<matrix_b, M, N, K, T, LB> &fb, const fragment<accumulator, M, N, K, C> &fc)                  \
    GPUPROF_MULTIPLY("wmma.mma.sync.aligned." ORDERS ".m" #M "n" #N "k" #K TYPES, WORD, R, ND, NA, NB, NC)

#define GPUPROF_PRODUCTS(M, N, K, T, D, C, TYPES, WORD, R, ND, NA, NB, NC)                                                                 \
    GPUPROF_PRODUCT(M, N, K, T, row_major, row_major, "row.row", D, C, TYPES, WORD, R, ND, NA, NB, NC)                                     \
    GPUPROF_PRODUCT(M, N, K, T, row_major, col_major, "row.col", D, C, TYPES, WORD, R, ND, NA, NB, NC)                                     \
    GPUPROF_PRODUCT(M, N, K, T, col_major, row_major, "col.row", D, C, TYPES, WORD, R, ND, NA, NB, NC)                                     \
    GPUPROF_PRODUCT(M, N, K, T, col_major, col_major, "col.col", D, C, TYPES, WORD, R, ND, NA, NB, NC)

// Of integers the sum may saturate.
#define GPUPROF_INTEGER_PRODUCT(M, N, K, T, LA, LB, ORDERS, TYPES, ND, NA, NB, NC)                                                         \
    GPUPROF_WMMA void mma_sync(fragment<accumulator, M, N, K, int> &fd, const fragment<matrix_a, M, N, K, T, LA> &fa,                      \
                               const fragment<matrix_b, M, N, K, T, LB> &fb, const fragment<accumulator, M, N, K, int> &fc,                \
                               bool satf = false)                                                                                          \
    {                                                                                                                                      \
        if (satf)                                                                                                                          \
            GPUPROF_MULTIPLY("wmma.mma.sync.aligned." ORDERS ".m" #M "n" #N "k" #K TYPES ".satfinite", unsigned, "r", ND, NA, NB, NC)      \
        else                                                                                                                               \
            GPUPROF_MULTIPLY("wmma.mma.sync.aligned." ORDERS ".m" #M "n" #N "k" #K TYPES, unsigned, "r", ND, NA, NB, NC)                   \
    }

#define GPUPROF_INTEGER_PRODUCTS(M, N, K, T, TYPES, ND, NA, NB, NC)                                                                        \
    GPUPROF_INTEGER_PRODUCT(M, N, K, T, row_major, row_major, "row.row", TYPES, ND, NA, NB, NC)                                            \
    GPUPROF_INTEGER_PRODUCT(M, N, K, T, row_major, col_major, "row.col", TYPES, ND, NA, NB, NC)                                            \
    GPUPROF_INTEGER_PRODUCT(M, N, K, T, col_major, row_major, "col.row", TYPES, ND, NA, NB, NC)                                            \
    GPUPROF_INTEGER_PRODUCT(M, N, K, T, col_major, col_major, "col.col", TYPES, ND, NA, NB, NC)

// Registers of A and B in each of the three shapes of 16 k: f16 has 8 of both, bf16 as many as there are elements, bytes half of those.
#define GPUPROF_SHAPE(M, N, A, B, A8, B8)                                                                                                  \
    GPUPROF_OPERANDS(M, N, 16, __half, "f16", __half, __half, unsigned, "r", 8, 8, 2)                                                      \
    GPUPROF_OPERANDS(M, N, 16, __nv_bfloat16, "bf16", __nv_bfloat16, __nv_bfloat16, unsigned, "r", A, B, 2)                                \
    GPUPROF_OPERANDS(M, N, 16, signed char, "s8", signed char, signed char, unsigned, "r", A8, B8, 4)                                      \
    GPUPROF_OPERANDS(M, N, 16, unsigned char, "u8", unsigned char, unsigned char, unsigned, "r", A8, B8, 4)                                \
    GPUPROF_SUMS(M, N, 16, __half, "f16", unsigned, 4, "r", 8)                                                                             \
    GPUPROF_SUMS(M, N, 16, float, "f32", float, 8, "f", 8)                                                                                 \
    GPUPROF_SUMS(M, N, 16, int, "s32", int, 8, "r", 8)                                                                                     \
    GPUPROF_PRODUCTS(M, N, 16, __half, float, float, ".f32.f32", unsigned, "r", 8, 8, 8, 8)                                                \
    GPUPROF_PRODUCTS(M, N, 16, __half, float, __half, ".f32.f16", unsigned, "r", 8, 8, 8, 4)                                               \
    GPUPROF_PRODUCTS(M, N, 16, __half, __half, float, ".f16.f32", unsigned, "r", 4, 8, 8, 8)                                               \
    GPUPROF_PRODUCTS(M, N, 16, __half, __half, __half, ".f16.f16", unsigned, "r", 4, 8, 8, 4)                                              \
    GPUPROF_PRODUCTS(M, N, 16, __nv_bfloat16, float, float, ".f32.bf16.bf16.f32", unsigned, "r", 8, A, B, 8)                               \
    GPUPROF_INTEGER_PRODUCTS(M, N, 16, signed char, ".s32.s8.s8.s32", 8, A8, B8, 8)                                                        \
    GPUPROF_INTEGER_PRODUCTS(M, N, 16, unsigned char, ".s32.u8.u8.s32", 8, A8, B8, 8)

GPUPROF_SHAPE(16, 16, 4, 4, 2, 2)
GPUPROF_SHAPE(8, 32, 2, 8, 1, 4)
GPUPROF_SHAPE(32, 8, 8, 2, 4, 1)

GPUPROF_OPERANDS(16, 16, 8, precision::tf32, "tf32", float, float, unsigned, "r", 4, 4, 1)
GPUPROF_SUMS(16, 16, 8, float, "f32", float, 8, "f", 8)
GPUPROF_PRODUCTS(16, 16, 8, precision::tf32, float, float, ".f32.tf32.tf32.f32", unsigned, "r", 8, 4, 4, 8)

GPUPROF_OPERANDS(8, 8, 4, double, "f64", double, double, double, "d", 1, 1, 1)
GPUPROF_SUMS(8, 8, 4, double, "f64", double, 2, "d", 2)
GPUPROF_PRODUCTS(8, 8, 4, double, double, double, ".f64.f64.f64.f64", double, "d", 2, 1, 1, 2)

// Below a byte there is one order of A and one of B. Leading dimensions count elements.
#define GPUPROF_SMALL(K, T, PTX, COUNT)                                                                                                    \
    GPUPROF_OPERAND(matrix_a, "a", 8, 8, K, T, row_major, "row", PTX, void, unsigned, unsigned, 1, "r", COUNT)                             \
    GPUPROF_OPERAND(matrix_b, "b", 8, 8, K, T, col_major, "col", PTX, void, unsigned, unsigned, 1, "r", COUNT)
GPUPROF_SMALL(32, experimental::precision::s4, "s4", 8)
GPUPROF_SMALL(32, experimental::precision::u4, "u4", 8)
GPUPROF_SMALL(128, experimental::precision::b1, "b1", 32)
GPUPROF_SUMS(8, 8, 32, int, "s32", int, 2, "r", 2)
GPUPROF_SUMS(8, 8, 128, int, "s32", int, 2, "r", 2)
GPUPROF_INTEGER_PRODUCT(8, 8, 32, experimental::precision::s4, row_major, col_major, "row.col", ".s32.s4.s4.s32", 2, 1, 1, 2)
GPUPROF_INTEGER_PRODUCT(8, 8, 32, experimental::precision::u4, row_major, col_major, "row.col", ".s32.u4.u4.s32", 2, 1, 1, 2)

GPUPROF_WMMA void bmma_sync(fragment<accumulator, 8, 8, 128, int> &fd,
                            const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> &fa,
                            const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> &fb,
                            const fragment<accumulator, 8, 8, 128, int> &fc, experimental::bmmaBitOp op = experimental::bmmaBitOpXOR,
                            experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC)
{
    if (op == experimental::bmmaBitOpAND)
        GPUPROF_MULTIPLY("wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", unsigned, "r", 2, 1, 1, 2)
    else
        GPUPROF_MULTIPLY("wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", unsigned, "r", 2, 1, 1, 2)
}

template <typename Use, int m, int n, int k, typename T, typename Layout, typename Value>
GPUPROF_WMMA void fill_fragment(fragment<Use, m, n, k, T, Layout> &f, const Value &value)
{
    for (auto &x : f.x)
        x = value;
}

// A float's nearest value with 10 bits after the point, which tensor cores use.
GPUPROF_WMMA float __float_to_tf32(float value)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return __uint_as_float(bits);
}

}
}
