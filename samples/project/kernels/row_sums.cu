// The sum of each row of a matrix, a block a row.
//
// LAUNCH: row_sums<<<64, 256>>>(in: f32[64,1024]=ones, sums: f32[64], 1024)
// LAUNCH: sums == 1024
#include "warp_sum.cuh"

__global__ void row_sums(const float *in, float *sums, int n)
{
    __shared__ float part[32];
    const float *row = in + blockIdx.x * n;
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += row[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            sums[blockIdx.x] = sum;
    }
}
