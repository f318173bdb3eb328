// Copies from global to shared memory that go on beside the work: a pipeline of two stages.
#include "check.h"
#include <cuda_pipeline.h>
__global__ void sums(const int *in, int *out, int n_tiles)
{
    __shared__ int tiles[2][64];
    int sum = 0;
    __pipeline_memcpy_async(&tiles[0][threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    for (int i = 0; i < n_tiles; ++i) {
        if (i + 1 < n_tiles) {
            __pipeline_memcpy_async(&tiles[(i + 1) % 2][threadIdx.x], &in[(i + 1) * 64 + threadIdx.x], sizeof(int));
            __pipeline_commit();
        }
        __pipeline_wait_prior(i + 1 < n_tiles ? 1 : 0);
        __syncthreads();
        sum += tiles[i % 2][63 - threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
int main()
{
    const int n_tiles = 5;
    int host[n_tiles * 64], got[64], *in, *out;
    for (int i = 0; i < n_tiles * 64; ++i)
        host[i] = i * 31 % 257;
    CHECK(cudaMalloc(&in, sizeof host));
    CHECK(cudaMalloc(&out, sizeof got));
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    sums<<<1, 64>>>(in, out, n_tiles);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int i = 0; i < 64; ++i) {
        int expected = 0;
        for (int tile = 0; tile < n_tiles; ++tile)
            expected += host[tile * 64 + 63 - i];
        is_right &= got[i] == expected;
    }
    return verdict(is_right);
}
