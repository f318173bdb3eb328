// __nv_atomic_load, __nv_atomic_fetch_add and their kin: atomics whose order and scope are named, as nvcc compiles them. Both are
// constants, so that each call is one instruction, after a fence where the order is sequential.
#pragma once

#include "language.h"

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

#if __clang_major__ >= 20 // asm with a computed text
namespace gpuprof_atomic {

enum Access { LOAD, STORE, UPDATE };

// The text of an instruction, joined while compiling.
struct Text {
    char letters[80] = {};
    int length = 0;
    constexpr GPUPROF_MEMBER Text &operator+=(const char *more)
    {
        while (*more)
            letters[length++] = *more++;
        return *this;
    }
    constexpr GPUPROF_MEMBER const char *data() const { return letters; }
    constexpr GPUPROF_MEMBER unsigned long size() const { return length; }
};

// Order and scope in one number, which a template can have; without a scope it is the system's.
constexpr GPUPROF_BOTH int how(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { return scope << 3 | order; }
constexpr GPUPROF_BOTH int order_of(int how) { return how & 7; }
constexpr GPUPROF_BOTH const char *scope_of(int how)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    const char *const cluster = ".gpu";
#else
    const char *const cluster = ".cluster";
#endif
    const int scope = how >> 3;
    return scope <= __NV_THREAD_SCOPE_BLOCK    ? ".cta"
           : scope == __NV_THREAD_SCOPE_CLUSTER ? cluster
           : scope == __NV_THREAD_SCOPE_DEVICE  ? ".gpu"
                                                : ".sys";
}
constexpr GPUPROF_BOTH const char *order_of(int how, Access access)
{
    const int order = order_of(how);
    if (access == STORE)
        return order == __NV_ATOMIC_RELEASE ? ".release" : ".relaxed";
    if (order == __NV_ATOMIC_RELAXED)
        return ".relaxed";
    if (access == UPDATE && order == __NV_ATOMIC_RELEASE)
        return ".release";
    return access == UPDATE && order == __NV_ATOMIC_ACQ_REL ? ".acq_rel" : ".acquire";
}
constexpr GPUPROF_BOTH Text text(const char *opcode, int how, Access access, const char *type, const char *operands)
{
    Text made;
    made += opcode;
    made += order_of(how, access);
    made += scope_of(how);
    made += type;
    made += operands;
    return made;
}
constexpr GPUPROF_BOTH Text fence_text(int how)
{
    Text made;
    made += order_of(how) == __NV_ATOMIC_ACQ_REL ? "fence.acq_rel" : "fence.sc";
    made += scope_of(how);
    made += ";";
    return made;
}
template <int HOW> GPUPROF_API void fence() { asm volatile((fence_text(HOW))::: "memory"); }
template <int HOW> GPUPROF_API void fence_before()
{
    if constexpr (order_of(HOW) == __NV_ATOMIC_SEQ_CST)
        fence<HOW>();
}

// The register of a value of some size, and the type of PTX.
template <int NBYTES> struct Word;
#define GPUPROF_WORD(NBYTES, T, PTX)                                                                                                       \
    template <> struct Word<NBYTES> {                                                                                                      \
        using type = T;                                                                                                                    \
        static constexpr const char *bits = PTX;                                                                                           \
    };
GPUPROF_WORD(1, unsigned short, ".b8")
GPUPROF_WORD(2, unsigned short, ".b16")
GPUPROF_WORD(4, unsigned int, ".b32")
GPUPROF_WORD(8, unsigned long long, ".b64")
GPUPROF_WORD(16, unsigned __int128, ".b128")
#undef GPUPROF_WORD
template <typename T> using WordOf = typename Word<sizeof(T)>::type;
template <typename T> GPUPROF_API WordOf<T> bits_of(const T &value)
{
    WordOf<T> word = 0;
    __builtin_memcpy(&word, &value, sizeof(T));
    return word;
}
template <typename T> GPUPROF_API T value_of(WordOf<T> word)
{
    T value;
    __builtin_memcpy(&value, &word, sizeof(T));
    return value;
}

// One instruction for each kind of register.
#define GPUPROF_EACH_REGISTER(DO)                                                                                                          \
    if constexpr (sizeof(word) <= 2) {                                                                                                     \
        DO("h");                                                                                                                           \
    } else if constexpr (sizeof(word) == 4) {                                                                                              \
        DO("r");                                                                                                                           \
    } else if constexpr (sizeof(word) == 8) {                                                                                              \
        DO("l");                                                                                                                           \
    } else {                                                                                                                               \
        DO("q");                                                                                                                           \
    }
template <int HOW, typename T> GPUPROF_API T load_n(T *p)
{
    constexpr Text code = text("ld", HOW, LOAD, Word<sizeof(T)>::bits, " %0, [%1];");
    WordOf<T> word;
    fence_before<HOW>();
#define GPUPROF_DO(REGISTER) asm volatile((code) : "=" REGISTER(word) : "l"(p) : "memory")
    GPUPROF_EACH_REGISTER(GPUPROF_DO)
#undef GPUPROF_DO
    return value_of<__remove_cv(T)>(word);
}
template <int HOW, typename T> GPUPROF_API void store_n(T *p, __remove_cv(T) value)
{
    constexpr Text code = text("st", HOW, STORE, Word<sizeof(T)>::bits, " [%0], %1;");
    const auto word = bits_of(value);
    fence_before<HOW>();
#define GPUPROF_DO(REGISTER) asm volatile((code)::"l"(p), REGISTER(word) : "memory")
    GPUPROF_EACH_REGISTER(GPUPROF_DO)
#undef GPUPROF_DO
}
template <int HOW, typename T> GPUPROF_API T exchange_n(T *p, __remove_cv(T) value)
{
    static_assert(sizeof(T) >= 4, "atomic exchange is valid only on objects of size 4, 8 or 16 bytes");
    constexpr Text code = text("atom.exch", HOW, UPDATE, Word<sizeof(T)>::bits, " %0, [%1], %2;");
    auto word = bits_of(value);
    fence_before<HOW>();
#define GPUPROF_DO(REGISTER) asm volatile((code) : "=" REGISTER(word) : "l"(p), REGISTER(word) : "memory")
    GPUPROF_EACH_REGISTER(GPUPROF_DO)
#undef GPUPROF_DO
    return value_of<__remove_cv(T)>(word);
}
template <int HOW, typename T> GPUPROF_API bool compare_exchange_n(T *p, __remove_cv(T) * expected, __remove_cv(T) desired)
{
    static_assert(sizeof(T) >= 2, "atomic compare exchange is valid only on objects of size 2, 4, 8 or 16 bytes");
    constexpr Text code = text("atom.cas", HOW, UPDATE, Word<sizeof(T)>::bits, " %0, [%1], %2, %3;");
    const auto old = bits_of(*expected), next = bits_of(desired);
    WordOf<T> word;
    fence_before<HOW>();
#define GPUPROF_DO(REGISTER) asm volatile((code) : "=" REGISTER(word) : "l"(p), REGISTER(old), REGISTER(next) : "memory")
    GPUPROF_EACH_REGISTER(GPUPROF_DO)
#undef GPUPROF_DO
    *expected = value_of<__remove_cv(T)>(word);
    return word == old;
}

// How PTX calls the numbers of an operation: additions have no signed kind of 8 bytes, those on bits none at all.
enum Kind { SUM, ORDERED, BITS };
template <typename T> constexpr GPUPROF_BOTH const char *type_of(Kind kind)
{
    if (kind == BITS)
        return Word<sizeof(T)>::bits;
    if (__is_floating_point(T))
        return sizeof(T) == 4 ? ".f32" : ".f64";
    const bool is_signed = (T)-1 < (T)0 && !(kind == SUM && sizeof(T) == 8);
    return sizeof(T) == 4 ? (is_signed ? ".s32" : ".u32") : (is_signed ? ".s64" : ".u64");
}
#define GPUPROF_FETCH(NAME, OPCODE, KIND)                                                                                                  \
    template <int HOW, typename T> GPUPROF_API T NAME(T *p, __remove_cv(T) value)                                                          \
    {                                                                                                                                      \
        using Bare = __remove_cv(T);                                                                                                       \
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomic " OPCODE " is valid only on objects of size 4, or 8");                     \
        static_assert(KIND == SUM || !__is_floating_point(T), "atomic " OPCODE " is not supported on any floating-point types");           \
        constexpr Text code = text("atom." OPCODE, HOW, UPDATE, type_of<Bare>(KIND), " %0, [%1], %2;");                                    \
        fence_before<HOW>();                                                                                                               \
        if constexpr (__is_same(Bare, float)) {                                                                                            \
            asm volatile((code) : "=f"(value) : "l"(p), "f"(value) : "memory");                                                            \
            return value;                                                                                                                  \
        } else if constexpr (__is_same(Bare, double)) {                                                                                    \
            asm volatile((code) : "=d"(value) : "l"(p), "d"(value) : "memory");                                                            \
            return value;                                                                                                                  \
        } else {                                                                                                                           \
            auto word = bits_of(value);                                                                                                    \
            if constexpr (sizeof(T) == 4)                                                                                                  \
                asm volatile((code) : "=r"(word) : "l"(p), "r"(word) : "memory");                                                          \
            else                                                                                                                           \
                asm volatile((code) : "=l"(word) : "l"(p), "l"(word) : "memory");                                                          \
            return value_of<Bare>(word);                                                                                                   \
        }                                                                                                                                  \
    }
GPUPROF_FETCH(fetch_add, "add", SUM)
GPUPROF_FETCH(fetch_and, "and", BITS)
GPUPROF_FETCH(fetch_or, "or", BITS)
GPUPROF_FETCH(fetch_xor, "xor", BITS)
GPUPROF_FETCH(fetch_min, "min", ORDERED)
GPUPROF_FETCH(fetch_max, "max", ORDERED)
#undef GPUPROF_FETCH
#undef GPUPROF_EACH_REGISTER
template <int HOW, typename T> GPUPROF_API T fetch_sub(T *p, __remove_cv(T) value) { return fetch_add<HOW>(p, (__remove_cv(T))-value); }

} // namespace gpuprof_atomic

#define GPUPROF_HOW(...) ::gpuprof_atomic::how(__VA_ARGS__)
#define __nv_atomic_load_n(P, ...) ::gpuprof_atomic::load_n<GPUPROF_HOW(__VA_ARGS__)>(P)
#define __nv_atomic_load(P, RESULT, ...) ((void)(*(RESULT) = __nv_atomic_load_n(P, __VA_ARGS__)))
#define __nv_atomic_store_n(P, VALUE, ...) ::gpuprof_atomic::store_n<GPUPROF_HOW(__VA_ARGS__)>(P, VALUE)
#define __nv_atomic_store(P, VALUE, ...) __nv_atomic_store_n(P, *(VALUE), __VA_ARGS__)
#define __nv_atomic_exchange_n(P, VALUE, ...) ::gpuprof_atomic::exchange_n<GPUPROF_HOW(__VA_ARGS__)>(P, VALUE)
#define __nv_atomic_exchange(P, VALUE, RESULT, ...) ((void)(*(RESULT) = __nv_atomic_exchange_n(P, *(VALUE), __VA_ARGS__)))
// The order of a failure is not stronger, and a weak exchange does not fail by itself.
#define __nv_atomic_compare_exchange_n(...) GPUPROF_COMPARE_EXCHANGE(__VA_ARGS__) // after macros for several arguments
#define GPUPROF_COMPARE_EXCHANGE(P, EXPECTED, DESIRED, IS_WEAK, SUCCESS, FAILURE, ...)                                                     \
    ::gpuprof_atomic::compare_exchange_n<GPUPROF_HOW(SUCCESS __VA_OPT__(, ) __VA_ARGS__)>(P, EXPECTED, DESIRED)
#define __nv_atomic_compare_exchange(P, EXPECTED, DESIRED, ...) __nv_atomic_compare_exchange_n(P, EXPECTED, *(DESIRED), __VA_ARGS__)
#define __nv_atomic_fetch_add(P, VALUE, ...) ::gpuprof_atomic::fetch_add<GPUPROF_HOW(__VA_ARGS__)>(P, VALUE)
#define __nv_atomic_fetch_sub(P, VALUE, ...) ::gpuprof_atomic::fetch_sub<GPUPROF_HOW(__VA_ARGS__)>(P, VALUE)
#define __nv_atomic_fetch_and(P, VALUE, ...) ::gpuprof_atomic::fetch_and<GPUPROF_HOW(__VA_ARGS__)>(P, VALUE)
#define __nv_atomic_fetch_or(P, VALUE, ...) ::gpuprof_atomic::fetch_or<GPUPROF_HOW(__VA_ARGS__)>(P, VALUE)
#define __nv_atomic_fetch_xor(P, VALUE, ...) ::gpuprof_atomic::fetch_xor<GPUPROF_HOW(__VA_ARGS__)>(P, VALUE)
#define __nv_atomic_fetch_min(P, VALUE, ...) ::gpuprof_atomic::fetch_min<GPUPROF_HOW(__VA_ARGS__)>(P, VALUE)
#define __nv_atomic_fetch_max(P, VALUE, ...) ::gpuprof_atomic::fetch_max<GPUPROF_HOW(__VA_ARGS__)>(P, VALUE)
#define __nv_atomic_thread_fence(...) ::gpuprof_atomic::fence<GPUPROF_HOW(__VA_ARGS__)>()
#endif
