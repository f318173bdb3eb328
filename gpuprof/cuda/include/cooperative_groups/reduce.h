// cooperative_groups::reduce over the lanes of a group, and the operations that collectives take.
#pragma once

#ifdef __CUDA__ // a .cpp file gets nothing of it, as with nvcc
#include "../cooperative_groups.h"

namespace cooperative_groups {
namespace __v1 {

#define GPUPROF_OPERATION(NAME, RESULT)                                                                                                    \
    template <typename T = void> struct NAME {                                                                                             \
        GPUPROF_DEVICE_MEMBER T operator()(T a, T b) const { return RESULT; }                                                              \
    };                                                                                                                                     \
    template <> struct NAME<void> {                                                                                                        \
        template <typename T> GPUPROF_DEVICE_MEMBER T operator()(T a, T b) const { return RESULT; }                                        \
    };
GPUPROF_OPERATION(plus, a + b)
GPUPROF_OPERATION(less, b < a ? b : a)
GPUPROF_OPERATION(greater, a < b ? b : a)
GPUPROF_OPERATION(bit_and, a & b)
GPUPROF_OPERATION(bit_or, a | b)
GPUPROF_OPERATION(bit_xor, a ^ b)
#undef GPUPROF_OPERATION

// Whether the chip reduces this operation on this type by itself, and how.
template <typename T, typename OPERATION> struct by_hardware { static constexpr bool is = false; };
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define GPUPROF_REDUX(OPERATION, T, FUNCTION)                                                                                              \
    template <> struct by_hardware<T, OPERATION<T>> {                                                                                      \
        static constexpr bool is = true;                                                                                                   \
        static GPUPROF_CONVERGENT T of(unsigned int mask, T value) { return FUNCTION(mask, value); }                                       \
    };
GPUPROF_REDUX(plus, int, __reduce_add_sync)
GPUPROF_REDUX(plus, unsigned int, __reduce_add_sync)
GPUPROF_REDUX(less, int, __reduce_min_sync)
GPUPROF_REDUX(less, unsigned int, __reduce_min_sync)
GPUPROF_REDUX(greater, int, __reduce_max_sync)
GPUPROF_REDUX(greater, unsigned int, __reduce_max_sync)
GPUPROF_REDUX(bit_and, unsigned int, __reduce_and_sync)
GPUPROF_REDUX(bit_or, unsigned int, __reduce_or_sync)
GPUPROF_REDUX(bit_xor, unsigned int, __reduce_xor_sync)
#undef GPUPROF_REDUX
#endif

// A butterfly in a tile: every lane ends with the same value.
template <unsigned int SIZE, typename PARENT, typename T, typename OPERATION>
GPUPROF_SYNC T reduce(const thread_block_tile<SIZE, PARENT> &tile, T value, OPERATION operation)
{
    if constexpr (by_hardware<T, OPERATION>::is)
        return by_hardware<T, OPERATION>::of(tile.lanes(), value);
    for (unsigned int d = SIZE / 2; d > 0; d /= 2)
        value = operation(value, tile.shfl_xor(value, d));
    return value;
}

// A tree over ranks in other groups; the first rank's value goes to all.
template <typename T, typename OPERATION> GPUPROF_SYNC T reduce(const coalesced_group &group, T value, OPERATION operation)
{
    if constexpr (by_hardware<T, OPERATION>::is)
        return by_hardware<T, OPERATION>::of(group.lanes(), value);
    for (unsigned int d = 16; d > 0; d /= 2) {
        T other = group.shfl_down(value, d);
        if (group.thread_rank() < d && group.thread_rank() + d < group.size())
            value = operation(value, other);
    }
    return group.shfl(value, 0);
}

} // namespace __v1
using namespace __v1;
} // namespace cooperative_groups
#endif
