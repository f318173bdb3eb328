// Many small launches of two kernels by turns, each of which needs what the one before it has made.
#include <cuda_runtime.h>
__global__ void step(float *p) { p[threadIdx.x] = 0.5f * p[threadIdx.x] + 1; }
__global__ void halo(float *p, int n)
{
    if (threadIdx.x < 2)
        p[threadIdx.x * (n - 1)] = p[1 + threadIdx.x * (n - 3)];
}
int main()
{
    const int n = 128, launches = 10000;
    float *p;
    cudaMalloc(&p, n * sizeof(float));
    for (int i = 0; i < launches / 2; ++i) {
        step<<<1, n>>>(p);
        halo<<<1, 32>>>(p, n);
    }
    cudaDeviceSynchronize();
}
