// What comes with sm_90: the thread's place in its cluster, the cluster's barrier, additions to vectors, atomics on 16 bytes.
#pragma once

#include "atomics_ordered.h"
#include "memory.h"
#include "sync.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 // undeclared before, as in NVIDIA's headers
#define GPUPROF_REGISTER(NAME, TEXT)                                                                                                       \
    GPUPROF_API unsigned int NAME()                                                                                                        \
    {                                                                                                                                      \
        unsigned int value;                                                                                                                \
        asm("mov.u32 %0, %%" TEXT ";" : "=r"(value));                                                                                      \
        return value;                                                                                                                      \
    }
#define GPUPROF_REGISTERS(NAME, TEXT)                                                                                                      \
    GPUPROF_REGISTER(gpuprof_##NAME##_x, TEXT ".x")                                                                                        \
    GPUPROF_REGISTER(gpuprof_##NAME##_y, TEXT ".y")                                                                                        \
    GPUPROF_REGISTER(gpuprof_##NAME##_z, TEXT ".z")                                                                                        \
    GPUPROF_API dim3 NAME() { return {gpuprof_##NAME##_x(), gpuprof_##NAME##_y(), gpuprof_##NAME##_z()}; }
GPUPROF_REGISTERS(__clusterDim, "cluster_nctaid")
GPUPROF_REGISTERS(__clusterRelativeBlockIdx, "cluster_ctaid")
GPUPROF_REGISTERS(__clusterGridDimInClusters, "nclusterid")
GPUPROF_REGISTERS(__clusterIdx, "clusterid")
GPUPROF_REGISTER(__clusterRelativeBlockRank, "cluster_ctarank")
GPUPROF_REGISTER(__clusterSizeInBlocks, "cluster_nctarank")
#undef GPUPROF_REGISTER
#undef GPUPROF_REGISTERS
GPUPROF_API unsigned int __clusterDimIsSpecified()
{
    unsigned int value;
    asm("{\n.reg .pred %%set;\nmov.pred %%set, %%is_explicit_cluster;\nselp.u32 %0, 1, 0, %%set;\n}" : "=r"(value));
    return value;
}

#define GPUPROF_IN_SPACE(NAME, SPACE)                                                                                                      \
    GPUPROF_API unsigned int NAME(const void *p)                                                                                           \
    {                                                                                                                                      \
        unsigned int value;                                                                                                                \
        asm("{\n.reg .pred %%in;\nisspacep." SPACE " %%in, %1;\nselp.u32 %0, 1, 0, %%in;\n}" : "=r"(value) : "l"(p));                      \
        return value;                                                                                                                      \
    }
GPUPROF_IN_SPACE(__isCtaShared, "shared::cta")
GPUPROF_IN_SPACE(__isClusterShared, "shared::cluster")
#undef GPUPROF_IN_SPACE
GPUPROF_API void *__cluster_map_shared_rank(const void *p, unsigned int rank)
{
    void *there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(p), "r"(rank));
    return there;
}
GPUPROF_API unsigned int __cluster_query_shared_rank(const void *p)
{
    unsigned int rank;
    asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(p));
    return rank;
}

GPUPROF_SYNC void __cluster_barrier_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
GPUPROF_SYNC void __cluster_barrier_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
GPUPROF_SYNC void __cluster_barrier_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
GPUPROF_API void __threadfence_cluster() { asm volatile("fence.sc.cluster;" ::: "memory"); }

// Each element by itself is added at once, in global memory.
#define GPUPROF_VECTOR_ADD(SUFFIX, SCOPE)                                                                                                  \
    GPUPROF_API float2 atomicAdd##SUFFIX(float2 *p, float2 v)                                                                              \
    {                                                                                                                                      \
        float2 old;                                                                                                                        \
        asm volatile("atom.global" SCOPE ".add.v2.f32 {%0, %1}, [%2], {%3, %4};"                                                           \
                     : "=f"(old.x), "=f"(old.y)                                                                                            \
                     : "l"(__cvta_generic_to_global(p)), "f"(v.x), "f"(v.y)                                                                \
                     : "memory");                                                                                                          \
        return old;                                                                                                                        \
    }                                                                                                                                      \
    GPUPROF_API float4 atomicAdd##SUFFIX(float4 *p, float4 v)                                                                              \
    {                                                                                                                                      \
        float4 old;                                                                                                                        \
        asm volatile("atom.global" SCOPE ".add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"                                           \
                     : "=f"(old.x), "=f"(old.y), "=f"(old.z), "=f"(old.w)                                                                  \
                     : "l"(__cvta_generic_to_global(p)), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)                                            \
                     : "memory");                                                                                                          \
        return old;                                                                                                                        \
    }
GPUPROF_VECTOR_ADD(, "")
GPUPROF_VECTOR_ADD(_block, ".cta")
GPUPROF_VECTOR_ADD(_system, ".sys")
#undef GPUPROF_VECTOR_ADD

#if __clang_major__ >= 20
// Of any type of 16 bytes with their alignment.
#define GPUPROF_WIDE(SUFFIX, SCOPE)                                                                                                        \
    template <typename T, typename gpuprof_if<sizeof(T) == 16 && alignof(T) >= 16>::type = 0>                                              \
    GPUPROF_API T atomicCAS##SUFFIX(T *p, T expected, T desired)                                                                           \
    {                                                                                                                                      \
        __nv_atomic_compare_exchange_n(p, &expected, desired, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, SCOPE);                     \
        return expected;                                                                                                                   \
    }                                                                                                                                      \
    template <typename T, typename gpuprof_if<sizeof(T) == 16 && alignof(T) >= 16>::type = 0>                                              \
    GPUPROF_API T atomicExch##SUFFIX(T *p, T value)                                                                                        \
    {                                                                                                                                      \
        return __nv_atomic_exchange_n(p, value, __NV_ATOMIC_RELAXED, SCOPE);                                                               \
    }
GPUPROF_WIDE(, __NV_THREAD_SCOPE_DEVICE)
GPUPROF_WIDE(_block, __NV_THREAD_SCOPE_BLOCK)
GPUPROF_WIDE(_system, __NV_THREAD_SCOPE_SYSTEM)
#undef GPUPROF_WIDE
#endif

// Between kernels of a stream that may overlap.
GPUPROF_API void cudaTriggerProgrammaticLaunchCompletion() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
GPUPROF_API void cudaGridDependencySynchronize() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#endif
