// Loads and stores with a cache hint, address-space conversions, and the memory functions of the C library.
#pragma once

#include "language.h"

// One line per built-in type: name, letter of its `ldg` builtin, PTX type, asm constraint, and the type of the register.
#define GPUPROF_SCALARS(DO)                                                                                                                \
    DO(char, sc, s8, "r", int)                                                                                                             \
    DO(signed char, sc, s8, "r", int)                                                                                                      \
    DO(unsigned char, uc, u8, "r", unsigned int)                                                                                           \
    DO(short, s, s16, "h", short)                                                                                                          \
    DO(unsigned short, us, u16, "h", unsigned short)                                                                                       \
    DO(int, i, s32, "r", int)                                                                                                              \
    DO(unsigned int, ui, u32, "r", unsigned int)                                                                                           \
    DO(long, l, s64, "l", long)                                                                                                            \
    DO(unsigned long, ul, u64, "l", unsigned long)                                                                                         \
    DO(long long, ll, s64, "l", long long)                                                                                                 \
    DO(unsigned long long, ull, u64, "l", unsigned long long)                                                                              \
    DO(float, f, f32, "f", float)                                                                                                          \
    DO(double, d, f64, "d", double)

#define GPUPROF_PAIRS(DO)                                                                                                                  \
    DO(char2, sc, s8, "r", int)                                                                                                            \
    DO(uchar2, uc, u8, "r", unsigned int)                                                                                                  \
    DO(short2, s, s16, "h", short)                                                                                                         \
    DO(ushort2, us, u16, "h", unsigned short)                                                                                              \
    DO(int2, i, s32, "r", int)                                                                                                             \
    DO(uint2, ui, u32, "r", unsigned int)                                                                                                  \
    DO(longlong2, ll, s64, "l", long long)                                                                                                 \
    DO(ulonglong2, ull, u64, "l", unsigned long long)                                                                                      \
    DO(float2, f, f32, "f", float)                                                                                                         \
    DO(double2, d, f64, "d", double)

#define GPUPROF_QUADS(DO)                                                                                                                  \
    DO(char4, sc, s8, "r", int)                                                                                                            \
    DO(uchar4, uc, u8, "r", unsigned int)                                                                                                  \
    DO(short4, s, s16, "h", short)                                                                                                         \
    DO(ushort4, us, u16, "h", unsigned short)                                                                                              \
    DO(int4, i, s32, "r", int)                                                                                                             \
    DO(uint4, ui, u32, "r", unsigned int)                                                                                                  \
    DO(float4, f, f32, "f", float)

// --- __ldg: the data are not written while the kernel runs, so it may come through the read-only path ---

#define GPUPROF_LDG1(T, LETTER, PTX, C, R) GPUPROF_API T __ldg(const T *p) { return __nvvm_ldg_##LETTER((const gpuprof_##LETTER *)p); }
#define GPUPROF_LDG2(T, LETTER, PTX, C, R)                                                                                                 \
    GPUPROF_API T __ldg(const T *p) { return __builtin_bit_cast(T, __nvvm_ldg_##LETTER##2((const gpuprof_##LETTER##2 *)p)); }
#define GPUPROF_LDG4(T, LETTER, PTX, C, R)                                                                                                 \
    GPUPROF_API T __ldg(const T *p) { return __builtin_bit_cast(T, __nvvm_ldg_##LETTER##4((const gpuprof_##LETTER##4 *)p)); }

#define GPUPROF_BUILTIN_VECTOR(T, LETTER)                                                                                                  \
    typedef T gpuprof_##LETTER;                                                                                                      \
    typedef T gpuprof_##LETTER##2 __attribute__((ext_vector_type(2)));                                                               \
    typedef T gpuprof_##LETTER##4 __attribute__((ext_vector_type(4)));
GPUPROF_BUILTIN_VECTOR(signed char, sc)
GPUPROF_BUILTIN_VECTOR(unsigned char, uc)
GPUPROF_BUILTIN_VECTOR(short, s)
GPUPROF_BUILTIN_VECTOR(unsigned short, us)
GPUPROF_BUILTIN_VECTOR(int, i)
GPUPROF_BUILTIN_VECTOR(unsigned int, ui)
GPUPROF_BUILTIN_VECTOR(long, l)
GPUPROF_BUILTIN_VECTOR(unsigned long, ul)
GPUPROF_BUILTIN_VECTOR(long long, ll)
GPUPROF_BUILTIN_VECTOR(unsigned long long, ull)
GPUPROF_BUILTIN_VECTOR(float, f)
GPUPROF_BUILTIN_VECTOR(double, d)
#undef GPUPROF_BUILTIN_VECTOR

GPUPROF_SCALARS(GPUPROF_LDG1)
GPUPROF_PAIRS(GPUPROF_LDG2)
GPUPROF_QUADS(GPUPROF_LDG4)
#undef GPUPROF_LDG1
#undef GPUPROF_LDG2
#undef GPUPROF_LDG4

// --- loads and stores with a cache operator ---

#define GPUPROF_LOAD1(NAME, HINT, T, PTX, C, R)                                                                                   \
    GPUPROF_API T NAME(const T *p)                                                                                                         \
    {                                                                                                                                      \
        R x;                                                                                                                               \
        asm volatile("ld.global." HINT "." #PTX " %0, [%1];" : "=" C(x) : "l"(p) : "memory");                                              \
        return (T)x;                                                                                                                       \
    }
#define GPUPROF_LOAD2(NAME, HINT, T, PTX, C, R)                                                                                   \
    GPUPROF_API T NAME(const T *p)                                                                                                         \
    {                                                                                                                                      \
        R x, y;                                                                                                                            \
        asm volatile("ld.global." HINT ".v2." #PTX " {%0, %1}, [%2];" : "=" C(x), "=" C(y) : "l"(p) : "memory");                           \
        return {(decltype(T::x))x, (decltype(T::x))y};                                                                                     \
    }
#define GPUPROF_LOAD4(NAME, HINT, T, PTX, C, R)                                                                                   \
    GPUPROF_API T NAME(const T *p)                                                                                                         \
    {                                                                                                                                      \
        R x, y, z, w;                                                                                                                      \
        asm volatile("ld.global." HINT ".v4." #PTX " {%0, %1, %2, %3}, [%4];"                                                              \
                     : "=" C(x), "=" C(y), "=" C(z), "=" C(w)                                                                              \
                     : "l"(p)                                                                                                              \
                     : "memory");                                                                                                          \
        return {(decltype(T::x))x, (decltype(T::x))y, (decltype(T::x))z, (decltype(T::x))w};                                               \
    }
#define GPUPROF_STORE1(NAME, HINT, T, PTX, C, R)                                                                                  \
    GPUPROF_API void NAME(T *p, T v)                                                                                                       \
    {                                                                                                                                      \
        asm volatile("st.global." HINT "." #PTX " [%0], %1;" ::"l"(p), C((R)v) : "memory");                                                \
    }
#define GPUPROF_STORE2(NAME, HINT, T, PTX, C, R)                                                                                  \
    GPUPROF_API void NAME(T *p, T v)                                                                                                       \
    {                                                                                                                                      \
        asm volatile("st.global." HINT ".v2." #PTX " [%0], {%1, %2};" ::"l"(p), C((R)v.x), C((R)v.y) : "memory");                          \
    }
#define GPUPROF_STORE4(NAME, HINT, T, PTX, C, R)                                                                                  \
    GPUPROF_API void NAME(T *p, T v)                                                                                                       \
    {                                                                                                                                      \
        asm volatile("st.global." HINT ".v4." #PTX " [%0], {%1, %2, %3, %4};" ::"l"(p), C((R)v.x), C((R)v.y), C((R)v.z), C((R)v.w)         \
                     : "memory");                                                                                                          \
    }

#define GPUPROF_LDCA1(T, LETTER, PTX, C, R) GPUPROF_LOAD1(__ldca, "ca", T, PTX, C, R)
#define GPUPROF_LDCA2(T, LETTER, PTX, C, R) GPUPROF_LOAD2(__ldca, "ca", T, PTX, C, R)
#define GPUPROF_LDCA4(T, LETTER, PTX, C, R) GPUPROF_LOAD4(__ldca, "ca", T, PTX, C, R)
GPUPROF_SCALARS(GPUPROF_LDCA1)
GPUPROF_PAIRS(GPUPROF_LDCA2)
GPUPROF_QUADS(GPUPROF_LDCA4)
#undef GPUPROF_LDCA1
#undef GPUPROF_LDCA2
#undef GPUPROF_LDCA4
#define GPUPROF_LDCG1(T, LETTER, PTX, C, R) GPUPROF_LOAD1(__ldcg, "cg", T, PTX, C, R)
#define GPUPROF_LDCG2(T, LETTER, PTX, C, R) GPUPROF_LOAD2(__ldcg, "cg", T, PTX, C, R)
#define GPUPROF_LDCG4(T, LETTER, PTX, C, R) GPUPROF_LOAD4(__ldcg, "cg", T, PTX, C, R)
GPUPROF_SCALARS(GPUPROF_LDCG1)
GPUPROF_PAIRS(GPUPROF_LDCG2)
GPUPROF_QUADS(GPUPROF_LDCG4)
#undef GPUPROF_LDCG1
#undef GPUPROF_LDCG2
#undef GPUPROF_LDCG4
#define GPUPROF_LDCS1(T, LETTER, PTX, C, R) GPUPROF_LOAD1(__ldcs, "cs", T, PTX, C, R)
#define GPUPROF_LDCS2(T, LETTER, PTX, C, R) GPUPROF_LOAD2(__ldcs, "cs", T, PTX, C, R)
#define GPUPROF_LDCS4(T, LETTER, PTX, C, R) GPUPROF_LOAD4(__ldcs, "cs", T, PTX, C, R)
GPUPROF_SCALARS(GPUPROF_LDCS1)
GPUPROF_PAIRS(GPUPROF_LDCS2)
GPUPROF_QUADS(GPUPROF_LDCS4)
#undef GPUPROF_LDCS1
#undef GPUPROF_LDCS2
#undef GPUPROF_LDCS4
#define GPUPROF_LDLU1(T, LETTER, PTX, C, R) GPUPROF_LOAD1(__ldlu, "lu", T, PTX, C, R)
#define GPUPROF_LDLU2(T, LETTER, PTX, C, R) GPUPROF_LOAD2(__ldlu, "lu", T, PTX, C, R)
#define GPUPROF_LDLU4(T, LETTER, PTX, C, R) GPUPROF_LOAD4(__ldlu, "lu", T, PTX, C, R)
GPUPROF_SCALARS(GPUPROF_LDLU1)
GPUPROF_PAIRS(GPUPROF_LDLU2)
GPUPROF_QUADS(GPUPROF_LDLU4)
#undef GPUPROF_LDLU1
#undef GPUPROF_LDLU2
#undef GPUPROF_LDLU4
#define GPUPROF_LDCV1(T, LETTER, PTX, C, R) GPUPROF_LOAD1(__ldcv, "cv", T, PTX, C, R)
#define GPUPROF_LDCV2(T, LETTER, PTX, C, R) GPUPROF_LOAD2(__ldcv, "cv", T, PTX, C, R)
#define GPUPROF_LDCV4(T, LETTER, PTX, C, R) GPUPROF_LOAD4(__ldcv, "cv", T, PTX, C, R)
GPUPROF_SCALARS(GPUPROF_LDCV1)
GPUPROF_PAIRS(GPUPROF_LDCV2)
GPUPROF_QUADS(GPUPROF_LDCV4)
#undef GPUPROF_LDCV1
#undef GPUPROF_LDCV2
#undef GPUPROF_LDCV4
#define GPUPROF_STWB1(T, LETTER, PTX, C, R) GPUPROF_STORE1(__stwb, "wb", T, PTX, C, R)
#define GPUPROF_STWB2(T, LETTER, PTX, C, R) GPUPROF_STORE2(__stwb, "wb", T, PTX, C, R)
#define GPUPROF_STWB4(T, LETTER, PTX, C, R) GPUPROF_STORE4(__stwb, "wb", T, PTX, C, R)
GPUPROF_SCALARS(GPUPROF_STWB1)
GPUPROF_PAIRS(GPUPROF_STWB2)
GPUPROF_QUADS(GPUPROF_STWB4)
#undef GPUPROF_STWB1
#undef GPUPROF_STWB2
#undef GPUPROF_STWB4
#define GPUPROF_STCG1(T, LETTER, PTX, C, R) GPUPROF_STORE1(__stcg, "cg", T, PTX, C, R)
#define GPUPROF_STCG2(T, LETTER, PTX, C, R) GPUPROF_STORE2(__stcg, "cg", T, PTX, C, R)
#define GPUPROF_STCG4(T, LETTER, PTX, C, R) GPUPROF_STORE4(__stcg, "cg", T, PTX, C, R)
GPUPROF_SCALARS(GPUPROF_STCG1)
GPUPROF_PAIRS(GPUPROF_STCG2)
GPUPROF_QUADS(GPUPROF_STCG4)
#undef GPUPROF_STCG1
#undef GPUPROF_STCG2
#undef GPUPROF_STCG4
#define GPUPROF_STCS1(T, LETTER, PTX, C, R) GPUPROF_STORE1(__stcs, "cs", T, PTX, C, R)
#define GPUPROF_STCS2(T, LETTER, PTX, C, R) GPUPROF_STORE2(__stcs, "cs", T, PTX, C, R)
#define GPUPROF_STCS4(T, LETTER, PTX, C, R) GPUPROF_STORE4(__stcs, "cs", T, PTX, C, R)
GPUPROF_SCALARS(GPUPROF_STCS1)
GPUPROF_PAIRS(GPUPROF_STCS2)
GPUPROF_QUADS(GPUPROF_STCS4)
#undef GPUPROF_STCS1
#undef GPUPROF_STCS2
#undef GPUPROF_STCS4
#define GPUPROF_STWT1(T, LETTER, PTX, C, R) GPUPROF_STORE1(__stwt, "wt", T, PTX, C, R)
#define GPUPROF_STWT2(T, LETTER, PTX, C, R) GPUPROF_STORE2(__stwt, "wt", T, PTX, C, R)
#define GPUPROF_STWT4(T, LETTER, PTX, C, R) GPUPROF_STORE4(__stwt, "wt", T, PTX, C, R)
GPUPROF_SCALARS(GPUPROF_STWT1)
GPUPROF_PAIRS(GPUPROF_STWT2)
GPUPROF_QUADS(GPUPROF_STWT4)
#undef GPUPROF_STWT1
#undef GPUPROF_STWT2
#undef GPUPROF_STWT4
#undef GPUPROF_LOAD1
#undef GPUPROF_LOAD2
#undef GPUPROF_LOAD4
#undef GPUPROF_STORE1
#undef GPUPROF_STORE2
#undef GPUPROF_STORE4
#undef GPUPROF_SCALARS
#undef GPUPROF_PAIRS
#undef GPUPROF_QUADS

// --- address spaces ---

#define GPUPROF_SPACE(NAME, NUMBER)                                                                                                        \
    GPUPROF_API size_t __cvta_generic_to_##NAME(const void *p)                                                                             \
    {                                                                                                                                      \
        return (size_t)(const __attribute__((address_space(NUMBER))) void *)p;                                                             \
    }                                                                                                                                      \
    GPUPROF_API void *__cvta_##NAME##_to_generic(size_t p) { return (void *)(__attribute__((address_space(NUMBER))) void *)p; }
GPUPROF_SPACE(global, 1)
GPUPROF_SPACE(shared, 3)
GPUPROF_SPACE(constant, 4)
GPUPROF_SPACE(local, 5)
#undef GPUPROF_SPACE
GPUPROF_API unsigned int __isglobal(const void *p) { return __nvvm_isspacep_global(p); }
GPUPROF_API unsigned int __isshared(const void *p) { return __nvvm_isspacep_shared(p); }
GPUPROF_API unsigned int __islocal(const void *p) { return __nvvm_isspacep_local(p); }
GPUPROF_API unsigned int __isGlobal(const void *p) { return __isglobal(p); }
GPUPROF_API unsigned int __isShared(const void *p) { return __isshared(p); }
GPUPROF_API unsigned int __isLocal(const void *p) { return __islocal(p); }
GPUPROF_API unsigned int __isConstant(const void *p) { return __nvvm_isspacep_const(p); }

// --- the C library's; the builtins become loops or plain moves ---

GPUPROF_API void *memcpy(void *to, const void *from, size_t nbytes) { return __builtin_memcpy(to, from, nbytes); }
GPUPROF_API void *memmove(void *to, const void *from, size_t nbytes) { return __builtin_memmove(to, from, nbytes); }
GPUPROF_API void *memset(void *to, int value, size_t nbytes) { return __builtin_memset(to, value, nbytes); }
