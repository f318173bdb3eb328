// The CUDA language: qualifiers, vector types, and the built-in variables of a thread.
//
// Every wrapper in these headers is `nodebug` and always inlined: its instructions belong to the line that calls it, as
// they do when a vendor compiler links its own bitcode library. A profile then charges the user's line and no other.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Linux' names, which programs take from CUDA's headers.
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#ifdef __CUDA__
#define __CUDACC__ 1
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#ifdef __CUDA_ARCH__
#define __managed__ __attribute__((device))
#else // the linker puts them where device memory begins, which a small code model cannot reach
#ifdef __x86_64__
#define GPUPROF_FAR model("large"),
#else // all code is of the large model
#define GPUPROF_FAR
#endif
#define __managed__ __attribute__((device, section("gpuprof_managed"), GPUPROF_FAR aligned(256)))
#endif
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define GPUPROF_HOST_DEVICE host, device,
#else // a .cpp file of a program: it has the types and the calls of the host, and no kernels
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define GPUPROF_HOST_DEVICE
#endif
#define GPUPROF_TEXT(...) #__VA_ARGS__
#define __cluster_dims__(...) __attribute__((annotate("gpuprof.cluster_dims " GPUPROF_TEXT(__VA_ARGS__))))
#define __grid_constant__ __attribute__((grid_constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __nv_pure__ __attribute__((pure))

#define __NVCC__ 1 // the headers in cccl/ hide it from NVIDIA's libraries
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 0
#define CUDART_VERSION 12080
#define CUDA_VERSION 12080

#define GPUPROF_API static inline __attribute__((device, always_inline, nodebug))
#define GPUPROF_BOTH static inline __attribute__((GPUPROF_HOST_DEVICE always_inline, nodebug))
#define GPUPROF_MEMBER inline __attribute__((GPUPROF_HOST_DEVICE always_inline, nodebug))
#define GPUPROF_DEVICE_MEMBER inline __attribute__((device, always_inline, nodebug))

// The host's calls and their types are C's, too: a type has its name without `struct`, as NVIDIA's has it there.
#ifdef __cplusplus
#define GPUPROF_C_BEGIN extern "C" {
#define GPUPROF_C_END }
#define GPUPROF_TYPE(NAME)
#define GPUPROF_OF(NAME)
#define GPUPROF_DEFAULT(VALUE) = VALUE

// Takes a template out of the overloads when the condition does not hold; C++17 has no `requires`.
template <bool> struct gpuprof_if {};
template <> struct gpuprof_if<true> {
    using type = int;
};
#else // a .c file of a program
#define GPUPROF_C_BEGIN
#define GPUPROF_C_END
#define GPUPROF_TYPE(NAME) typedef struct NAME NAME;
#define GPUPROF_OF(NAME) (NAME)
#define GPUPROF_DEFAULT(VALUE)
#define GPUPROF_FACE static inline __attribute__((overloadable, always_inline, nodebug)) // clang's
#endif

// --- vector types: T1 to T4 with the alignments that loads and stores of the whole vector need ---

#define GPUPROF_VECTOR(T, NAME, ALIGN2, ALIGN4)                                                                                            \
    struct NAME##1 { T x; }; GPUPROF_TYPE(NAME##1)                                                                                         \
    struct __align__(ALIGN2) NAME##2 { T x, y; }; GPUPROF_TYPE(NAME##2)                                                                    \
    struct NAME##3 { T x, y, z; }; GPUPROF_TYPE(NAME##3)                                                                                   \
    struct __align__(ALIGN4) NAME##4 { T x, y, z, w; }; GPUPROF_TYPE(NAME##4)                                                              \
    GPUPROF_BOTH NAME##1 make_##NAME##1(T x) { return GPUPROF_OF(NAME##1){x}; }                                                            \
    GPUPROF_BOTH NAME##2 make_##NAME##2(T x, T y) { return GPUPROF_OF(NAME##2){x, y}; }                                                    \
    GPUPROF_BOTH NAME##3 make_##NAME##3(T x, T y, T z) { return GPUPROF_OF(NAME##3){x, y, z}; }                                            \
    GPUPROF_BOTH NAME##4 make_##NAME##4(T x, T y, T z, T w) { return GPUPROF_OF(NAME##4){x, y, z, w}; }

GPUPROF_VECTOR(signed char, char, 2, 4)
GPUPROF_VECTOR(unsigned char, uchar, 2, 4)
GPUPROF_VECTOR(short, short, 4, 8)
GPUPROF_VECTOR(unsigned short, ushort, 4, 8)
GPUPROF_VECTOR(int, int, 8, 16)
GPUPROF_VECTOR(unsigned int, uint, 8, 16)
GPUPROF_VECTOR(long, long, 16, 16)
GPUPROF_VECTOR(unsigned long, ulong, 16, 16)
GPUPROF_VECTOR(long long, longlong, 16, 16)
GPUPROF_VECTOR(unsigned long long, ulonglong, 16, 16)
GPUPROF_VECTOR(float, float, 8, 16)
GPUPROF_VECTOR(double, double, 16, 16)
#undef GPUPROF_VECTOR

// Four of 8 bytes, by the alignment that their name says (CUDA 13).
#define GPUPROF_ALIGNED_VECTOR(T, NAME, NBYTES)                                                                                            \
    struct __align__(NBYTES) NAME##4_##NBYTES##a { T x, y, z, w; }; GPUPROF_TYPE(NAME##4_##NBYTES##a)                                      \
    GPUPROF_BOTH NAME##4_##NBYTES##a make_##NAME##4_##NBYTES##a(T x, T y, T z, T w) { return GPUPROF_OF(NAME##4_##NBYTES##a){x, y, z, w}; }
#define GPUPROF_ALIGNED_VECTORS(T, NAME) GPUPROF_ALIGNED_VECTOR(T, NAME, 16) GPUPROF_ALIGNED_VECTOR(T, NAME, 32)
GPUPROF_ALIGNED_VECTORS(long, long)
GPUPROF_ALIGNED_VECTORS(unsigned long, ulong)
GPUPROF_ALIGNED_VECTORS(long long, longlong)
GPUPROF_ALIGNED_VECTORS(unsigned long long, ulonglong)
GPUPROF_ALIGNED_VECTORS(double, double)
#undef GPUPROF_ALIGNED_VECTORS
#undef GPUPROF_ALIGNED_VECTOR

#ifdef __cplusplus
struct dim3 {
    unsigned int x, y, z;
    constexpr GPUPROF_MEMBER dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
    constexpr GPUPROF_MEMBER dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr GPUPROF_MEMBER operator uint3() const { return {x, y, z}; }
};
#else
typedef struct dim3 {
    unsigned int x, y, z;
} dim3;
#endif

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

#ifdef __CUDA__
// --- what sources of nvcc's dialect become (compile/dialect) ---

// An object that is neither constructed nor destroyed.
template <typename T>
union gpuprof_raw {
    T value;
    GPUPROF_MEMBER gpuprof_raw() {}
    GPUPROF_MEMBER ~gpuprof_raw() {}
};

// A condition that counts only in functions that are used on this side: those of the other side may call what fails.
#ifdef __CUDA_ARCH__
#define GPUPROF_OTHER_SIDE __attribute__((host))
#else
#define GPUPROF_OTHER_SIDE __attribute__((device))
#endif
template <bool holds>
struct gpuprof_condition {
    static GPUPROF_OTHER_SIDE void check() {}
};
template <>
struct gpuprof_condition<true> {
    static GPUPROF_MEMBER void check() {}
};
constexpr __attribute__((host, device)) bool gpuprof_first(bool condition, const char * = "") { return condition; }
#define gpuprof_check(...) gpuprof_condition<gpuprof_first(__VA_ARGS__)>::check()
#undef GPUPROF_OTHER_SIDE

// --- built-in variables: each member reads its special register where it is named ---

#define GPUPROF_INDEX(NAME, REGISTER, CONVERSION)                                                                                          \
    struct gpuprof_##NAME {                                                                                                                \
        __declspec(property(get = get_x)) unsigned int x;                                                                                  \
        __declspec(property(get = get_y)) unsigned int y;                                                                                  \
        __declspec(property(get = get_z)) unsigned int z;                                                                                  \
        static GPUPROF_DEVICE_MEMBER unsigned int get_x() { return __nvvm_read_ptx_sreg_##REGISTER##_x(); }                                \
        static GPUPROF_DEVICE_MEMBER unsigned int get_y() { return __nvvm_read_ptx_sreg_##REGISTER##_y(); }                                \
        static GPUPROF_DEVICE_MEMBER unsigned int get_z() { return __nvvm_read_ptx_sreg_##REGISTER##_z(); }                                \
        GPUPROF_DEVICE_MEMBER operator uint3() const { return {x, y, z}; }                                                                 \
        CONVERSION                                                                                                                         \
        gpuprof_##NAME() = delete;                                                                                                         \
        gpuprof_##NAME(const gpuprof_##NAME &) = delete;                                                                                   \
        void operator=(const gpuprof_##NAME &) const = delete;                                                                             \
        gpuprof_##NAME *operator&() const = delete;                                                                                        \
    };                                                                                                                                     \
    extern const __device__ __attribute__((weak)) gpuprof_##NAME NAME;

#define GPUPROF_TO_DIM3 GPUPROF_DEVICE_MEMBER operator dim3() const { return {x, y, z}; }
GPUPROF_INDEX(threadIdx, tid, )
GPUPROF_INDEX(blockIdx, ctaid, )
GPUPROF_INDEX(blockDim, ntid, GPUPROF_TO_DIM3)
GPUPROF_INDEX(gridDim, nctaid, GPUPROF_TO_DIM3)
#undef GPUPROF_INDEX
#undef GPUPROF_TO_DIM3

inline constexpr __device__ int gpuprof_warp_size = 32;
#ifndef GPUPROF_OWN_WARP_SIZE // the program has a global name of its own
inline constexpr __device__ int warpSize = gpuprof_warp_size;
#endif
#endif
