// The same sum over managed memory that the host has just written: as it is, and prefetched.
#include <cstdio>
#include <cuda_runtime.h>
__global__ void add(int n, const float *x, float *y) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + y[i]; }
int main()
{
    int n = 1 << 16; float *x, *y;
    cudaMallocManaged(&x, n * 4); cudaMallocManaged(&y, n * 4);
    cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
    for (int way = 0; way < 3; way++) {
        if (way < 2) for (int i = 0; i < n; i++) x[i] = 1, y[i] = 2;
        int device = 0;
        if (way == 1) { cudaMemPrefetchAsync(x, n * 4, device); cudaMemPrefetchAsync(y, n * 4, device); }
        cudaDeviceSynchronize();
        cudaEventRecord(a); add<<<256, 256>>>(n, x, y); cudaEventRecord(b); cudaEventSynchronize(b);
        float ms; cudaEventElapsedTime(&ms, a, b);
        std::printf("%-28s %8.1f us\n", way == 0 ? "host has touched it" : way == 1 ? "touched, then prefetched" : "still on the device", ms * 1e3);
    }
}
