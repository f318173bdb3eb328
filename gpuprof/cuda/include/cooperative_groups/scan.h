// Prefix sums, and prefixes of other operations, over the lanes of a group.
#pragma once

#ifdef __CUDA__ // a .cpp file gets nothing of it, as with nvcc
#include "reduce.h"

namespace cooperative_groups {
namespace __v1 {

template <typename GROUP, typename T, typename OPERATION> GPUPROF_SYNC T inclusive_scan(const GROUP &group, T value, OPERATION operation)
{
    for (unsigned int d = 1; d < group.size(); d *= 2) {
        T before = group.shfl_up(value, d);
        if (group.thread_rank() >= d)
            value = operation(before, value);
    }
    return value;
}
template <typename GROUP, typename T> GPUPROF_SYNC T inclusive_scan(const GROUP &group, T value)
{
    return inclusive_scan(group, value, plus<T>());
}

// The first rank gets T().
template <typename GROUP, typename T, typename OPERATION> GPUPROF_SYNC T exclusive_scan(const GROUP &group, T value, OPERATION operation)
{
    T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
    return group.thread_rank() == 0 ? T() : before;
}
template <typename GROUP, typename T> GPUPROF_SYNC T exclusive_scan(const GROUP &group, T value)
{
    return exclusive_scan(group, value, plus<T>());
}

} // namespace __v1
using namespace __v1;
} // namespace cooperative_groups
#endif
