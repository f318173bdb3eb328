// The sum of a value over the lanes of a warp, in lane 0.
#pragma once

__device__ inline float warp_sum(float x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_down_sync(0xffffffff, x, distance);
    return x;
}
