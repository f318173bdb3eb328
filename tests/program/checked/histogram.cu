// A histogram by atomics on shared, then on global memory.
#include "check.h"
#include <vector>
__global__ void count(const unsigned char *in, int n, unsigned *bins)
{
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
int main()
{
    const int n = 4000;
    std::vector<unsigned char> host(n);
    unsigned expected[256] = {}, got[256], *bins;
    for (int i = 0; i < n; ++i)
        ++expected[host[i] = (unsigned char)(i * i >> 3)];
    unsigned char *in;
    CHECK(cudaMalloc(&in, n));
    CHECK(cudaMalloc(&bins, sizeof got));
    CHECK(cudaMemset(bins, 0, sizeof got));
    CHECK(cudaMemcpy(in, host.data(), n, cudaMemcpyHostToDevice));
    count<<<3, 256>>>(in, n, bins);
    CHECK(cudaMemcpy(got, bins, sizeof got, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int i = 0; i < 256; ++i)
        is_right &= got[i] == expected[i];
    return verdict(is_right);
}
