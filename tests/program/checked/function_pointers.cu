// A device function's address, read by the host from a symbol and given to a kernel.
#include "check.h"
typedef int (*Operation)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ Operation operations[2] = {add, multiply};
__global__ void apply(Operation chosen, int *out) { out[threadIdx.x] = chosen(threadIdx.x, 3); }
int main()
{
    Operation host[2];
    CHECK(cudaMemcpyFromSymbol(host, operations, sizeof host));
    int *device, sums[32], products[32];
    CHECK(cudaMalloc(&device, sizeof sums));
    apply<<<1, 32>>>(host[0], device);
    CHECK(cudaMemcpy(sums, device, sizeof sums, cudaMemcpyDeviceToHost));
    apply<<<1, 32>>>(host[1], device);
    CHECK(cudaMemcpy(products, device, sizeof products, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int i = 0; i < 32; ++i)
        is_right &= sums[i] == i + 3 && products[i] == i * 3;
    return verdict(is_right);
}
