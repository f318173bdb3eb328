// Doubles its work until events show that a launch takes long enough, as tuners do.
#include <cstdio>

__global__ void spin(float *x, int n)
{
    float v = x[threadIdx.x];
    for (int i = 0; i < n; i++)
        v = v * 1.0001f + 1;
    x[threadIdx.x] = v;
}

int main()
{
    float *x, ms = 0;
    int n = 64;
    cudaEvent_t begin, end;
    cudaMalloc(&x, 128);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    do {
        n *= 2;
        cudaEventRecord(begin);
        spin<<<1, 32>>>(x, n);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&ms, begin, end);
    } while (ms < 0.008f && n < 65536);
    puts(ms == 0 ? "no time" : ms < 0.016f ? "long enough" : "too long");
}
