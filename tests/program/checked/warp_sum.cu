// Votes, shuffles and matches of a warp.
#include "check.h"
__global__ void all(int *out)
{
    const int lane = threadIdx.x;
    int sum = lane * lane;
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    int before = lane;
    for (int d = 1; d < 32; d *= 2) {
        const int other = __shfl_up_sync(~0u, before, d);
        before += lane >= d ? other : 0;
    }
    out[lane] = sum;
    out[32 + lane] = before;
    out[64 + lane] = __popc(__ballot_sync(~0u, lane % 3 == 0));
    out[96 + lane] = __popc(__match_any_sync(~0u, lane % 5));
    out[128 + lane] = __all_sync(~0u, lane < 32) + 2 * __any_sync(~0u, lane == 77);
}
int main()
{
    int *device, got[160];
    CHECK(cudaMalloc(&device, sizeof got));
    all<<<1, 32>>>(device);
    CHECK(cudaMemcpy(got, device, sizeof got, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int i = 0; i < 32; ++i)
        is_right &= got[i] == 31 * 32 * 63 / 6 && got[32 + i] == i * (i + 1) / 2 && got[64 + i] == 11 && got[96 + i] == (i % 5 < 2 ? 7 : 6) &&
                    got[128 + i] == 1;
    return verdict(is_right);
}
