#include "parts.h"
__global__ void sum(const int *values, int n, int *total)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(total, values[i]);
}
int sum_on_device(const int *values, int n)
{
    int *p, *total, found;
    cudaMalloc(&p, n * sizeof *p);
    cudaMalloc(&total, sizeof *total);
    cudaMemset(total, 0, sizeof *total);
    cudaMemcpy(p, values, n * sizeof *p, cudaMemcpyHostToDevice);
    sum<<<1, 64>>>(p, n, total);
    cudaMemcpy(&found, total, sizeof found, cudaMemcpyDeviceToHost);
    return found;
}
