// Copies from global to shared memory by all members of a group, in the background (sm_80), and what waits for them.
#pragma once

#ifdef __CUDA__ // a .cpp file gets nothing of it, as with nvcc
#include "../cooperative_groups.h"
#include "../cuda_pipeline_primitives.h"

namespace cooperative_groups {
namespace __v1 {

// In pieces of the widest kind that both addresses and the size allow; single bytes are copied at once.
template <typename GROUP> GPUPROF_SYNC void copy_bytes(const GROUP &group, void *to, const void *from, size_t nbytes)
{
    size_t crooked = (size_t)to | (size_t)from | nbytes, step = crooked % 16 == 0 ? 16 : crooked % 8 == 0 ? 8 : crooked % 4 == 0 ? 4 : 1;
    bool in_background = step > 1 && __isShared(to) && __isGlobal(from);
    for (size_t at = group.thread_rank() * step; at < nbytes; at += group.size() * step) {
        if (!in_background)
            for (size_t i = 0; i < step; ++i)
                ((char *)to)[at + i] = ((const char *)from)[at + i];
        else if (step == 16)
            __pipeline_memcpy_async((char *)to + at, (const char *)from + at, 16);
        else if (step == 8)
            __pipeline_memcpy_async((char *)to + at, (const char *)from + at, 8);
        else
            __pipeline_memcpy_async((char *)to + at, (const char *)from + at, 4);
    }
    __pipeline_commit();
}

// `nbytes` bytes.
template <typename GROUP, typename T> GPUPROF_SYNC void memcpy_async(const GROUP &group, T *to, const T *from, size_t nbytes)
{
    copy_bytes(group, to, from, nbytes);
}
template <typename GROUP> GPUPROF_SYNC void memcpy_async(const GROUP &group, void *to, const void *from, size_t nbytes)
{
    copy_bytes(group, to, from, nbytes);
}
// As many elements as both have.
template <typename GROUP, typename T>
GPUPROF_SYNC void memcpy_async(const GROUP &group, T *to, size_t n_to, const T *from, size_t n_from)
{
    copy_bytes(group, to, from, (n_to < n_from ? n_to : n_from) * sizeof(T));
}

// All of this group's copies have arrived, and every member sees them.
template <typename GROUP> GPUPROF_SYNC void wait(const GROUP &group)
{
    __pipeline_wait_prior(0);
    group.sync();
}
// All but the newest STAGES calls.
template <unsigned int STAGES, typename GROUP> GPUPROF_SYNC void wait_prior(const GROUP &group)
{
    __pipeline_wait_prior(STAGES);
    group.sync();
}

} // namespace __v1
using namespace __v1;
} // namespace cooperative_groups
#endif
