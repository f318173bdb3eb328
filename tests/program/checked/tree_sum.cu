// A sum in shared memory, blocks first, then one block over the partial sums.
#include "check.h"
#include <vector>
__global__ void sum(const float *in, float *out, int n)
{
    extern __shared__ float part[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : 0;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}
int main()
{
    const int n = 5000, threads = 128, blocks = (n + threads - 1) / threads;
    std::vector<float> host(n);
    float expected = 0, got, *in, *parts;
    for (int i = 0; i < n; ++i)
        expected += host[i] = float(i % 17);
    CHECK(cudaMalloc(&in, n * sizeof *in));
    CHECK(cudaMalloc(&parts, 64 * sizeof *parts));
    CHECK(cudaMemcpy(in, host.data(), n * sizeof *in, cudaMemcpyHostToDevice));
    sum<<<blocks, threads, threads * sizeof(float)>>>(in, parts, n);
    sum<<<1, 64, 64 * sizeof(float)>>>(parts, parts, blocks);
    CHECK(cudaMemcpy(&got, parts, sizeof got, cudaMemcpyDeviceToHost));
    return verdict(got == expected);
}
