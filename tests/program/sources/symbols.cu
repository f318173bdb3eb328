// Arguments, symbols, events and copies both ways.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
__constant__ float scale[4];
__device__ int counter;
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + scale[2] * y[i];
}
template <int N> __global__ void count() { atomicAdd(&counter, N); }
#define CHECK(call)                                                                     \
    if (cudaError_t error = (call)) {                                                   \
        fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));  \
        exit(2);                                                                        \
    }
int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 1000;
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i)
        x[i] = i, y[i] = 1;
    float *dx, *dy, factors[4] = {1, 2, 3, 4};
    CHECK(cudaMalloc(&dx, n * sizeof(float)));
    CHECK(cudaMalloc((void **)&dy, n * sizeof(float)));
    CHECK(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyDefault));
    CHECK(cudaMemcpyToSymbol(scale, factors, sizeof factors));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, dx, dy);
    CHECK(cudaEventRecord(end));
    CHECK(cudaGetLastError());
    count<3><<<2, 32>>>();
    CHECK(cudaDeviceSynchronize());
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost));
    int counted, bad = 0;
    CHECK(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
    for (int i = 0; i < n; ++i)
        bad += y[i] != 2.0f * i + 3;
    printf("%s counted %d, %s\n", bad ? "FAIL" : "PASS", counted, milliseconds >= 0 ? "time" : "no time");
    CHECK(cudaFree(dx));
    CHECK(cudaFree(dy));
    return bad != 0;
}
