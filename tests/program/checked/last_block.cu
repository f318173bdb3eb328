// The last block to finish sums up what the others have left: fences and a counter that wraps.
#include "check.h"
__device__ unsigned n_done;
__global__ void sum(const double *in, double *parts, double *out, int n)
{
    __shared__ double mine;
    __shared__ bool is_last;
    if (threadIdx.x == 0)
        mine = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = mine;
        __threadfence();
        is_last = atomicInc(&n_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0)
        for (*out = 0; threadIdx.x < gridDim.x && mine >= 0; mine = -1)
            for (unsigned i = 0; i < gridDim.x; ++i)
                *out += ((volatile double *)parts)[i];
}
int main()
{
    const int n = 900;
    double host[n], got[2], *in, *parts, *out, expected = 0;
    for (int i = 0; i < n; ++i)
        expected += host[i] = i * 0.5;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&parts, 8 * sizeof(double)));
    CHECK(cudaMalloc(&out, sizeof got));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    for (int i = 0; i < 2; ++i)
        sum<<<5, 64>>>(in, parts, out + i, n);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    return verdict(got[0] == expected && got[1] == expected);
}
