// Launches before, between and behind cudaProfilerStart and cudaProfilerStop.
#include <cstdio>
#include <cuda_profiler_api.h>
__global__ void first(int *p) { *p += 1; }
__global__ void second(int *p) { *p *= 2; }
int main(int argc, char **argv)
{
    int *p, found;
    cudaMalloc(&p, 4);
    cudaMemset(p, 0, 4);
    first<<<1, 1>>>(p);
    cudaProfilerStart();
    for (int i = 0; i < 3; ++i) {
        first<<<1, 1>>>(p);
        second<<<1, 1>>>(p);
    }
    cudaProfilerStop();
    second<<<1, 1>>>(p);
    cudaMemcpy(&found, p, 4, cudaMemcpyDeviceToHost);
    printf("%d %d\n", found, argc);
    return found != 44;
}
