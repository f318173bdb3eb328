// nvcuda::experimental::pipeline: batches of copies from global to shared memory, as a class.
#pragma once

#ifdef __CUDA__ // a .cpp file gets nothing of it, as with nvcc

#include "cuda_awbarrier.h"
#include "cuda_pipeline_primitives.h"

namespace nvcuda {
namespace experimental {

class pipeline {
public:
    GPUPROF_DEVICE_MEMBER pipeline() : batch(0) {}
    pipeline(const pipeline &) = delete;
    pipeline &operator=(const pipeline &) = delete;
    GPUPROF_DEVICE_MEMBER size_t commit()
    {
        __pipeline_commit();
        return batch++;
    }
    GPUPROF_DEVICE_MEMBER void commit_and_wait()
    {
        commit();
        wait_prior<0>();
    }
    GPUPROF_DEVICE_MEMBER void wait(size_t until) { __pipeline_wait_prior(batch > until ? batch - until : 0); }
    template <unsigned int NEWEST> GPUPROF_DEVICE_MEMBER void wait_prior() { __pipeline_wait_prior(NEWEST); }
    GPUPROF_DEVICE_MEMBER void arrive_on(awbarrier &barrier) { __pipeline_arrive_on(&barrier.barrier); }
    // cuda::barrier of libcu++, whose first member is the barrier.
    template <typename BARRIER> GPUPROF_DEVICE_MEMBER void arrive_on(BARRIER &barrier)
    {
        __pipeline_arrive_on(reinterpret_cast<__mbarrier_t *>(&barrier));
    }

private:
    size_t batch;
};

template <size_t N, typename T> GPUPROF_API auto segment(T *p) -> T (*)[N] { return (T(*)[N])p; }

// In pieces as wide as T's alignment allows, in the background where they go from global to shared memory.
template <typename T> GPUPROF_API void memcpy_async(T &to, const T &from, pipeline &)
{
    constexpr size_t step = alignof(T) >= 16 && sizeof(T) >= 16 ? 16 : alignof(T) >= 8 ? 8 : 4;
    if constexpr (!__is_trivially_copyable(T) || alignof(T) < 4) {
        to = from;
    } else if (__isShared(&to) && __isGlobal(&from)) {
        for (size_t at = 0; at < sizeof(T); at += step)
            __pipeline_memcpy_async((char *)&to + at, (const char *)&from + at, step);
    } else {
        to = from;
    }
}

// 4, 8 or 16 bytes, whose elements that the source lacks become zero.
template <typename T, size_t N_TO, size_t N_FROM> GPUPROF_API void memcpy_async(T (*to)[N_TO], const T (*from)[N_FROM], pipeline &)
{
    static_assert(sizeof(*to) == 4 || sizeof(*to) == 8 || sizeof(*to) == 16, "Unsupported copy size.");
    static_assert(sizeof(*from) <= sizeof(*to), "Source size must be less than or equal to destination size.");
    if (__is_trivially_copyable(T) && __isShared(to) && __isGlobal(from))
        __pipeline_memcpy_async(to, from, sizeof(*to), sizeof(*to) - sizeof(*from));
    else
        for (size_t i = 0; i < N_TO; ++i)
            (*to)[i] = i < N_FROM ? (*from)[i] : T();
}

} // namespace experimental
} // namespace nvcuda
#endif
