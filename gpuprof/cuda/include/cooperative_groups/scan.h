// Prefix sums, and prefixes of other operations, over the lanes of a group.
#pragma once
#include "reduce.h"

namespace cooperative_groups {

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

} // namespace cooperative_groups
