// More than 48 KiB of shared memory: refused, then allowed by an attribute.
#include "check.h"
__global__ void reverse(int *data, int n)
{
    extern __shared__ int all[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        all[i] = data[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[i] = all[n - 1 - i];
}
int main()
{
    const int n = 16000, nbytes = n * (int)sizeof(int);
    static int host[n];
    int *device;
    for (int i = 0; i < n; ++i)
        host[i] = i;
    CHECK(cudaMalloc(&device, nbytes));
    CHECK(cudaMemcpy(device, host, nbytes, cudaMemcpyHostToDevice));
    reverse<<<1, 256, nbytes>>>(device, n);
    bool is_right = cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess;
    CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, nbytes));
    reverse<<<1, 256, nbytes>>>(device, n);
    CHECK(cudaMemcpy(host, device, nbytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
        is_right &= host[i] == n - 1 - i;
    return verdict(is_right);
}
