// What CUDA answers to mistakes: each line is an error's name.
#include <cstdio>
__global__ void store(int *p, int n) { p[threadIdx.x + n] = 1; }
extern __shared__ int room[];
__global__ void large(int *p) { room[threadIdx.x] = 1; p[0] = room[threadIdx.x]; }
static char bytes[8192];
void said(cudaError_t error) { puts(cudaGetErrorName(error)); }
int main()
{
    int *p, *q;
    said(cudaMalloc(&p, (size_t)1 << 46));
    said(cudaGetLastError()), said(cudaGetLastError());
    said(cudaMalloc(&p, 0)), said(p ? cudaErrorUnknown : cudaSuccess);
    said(cudaMalloc(&p, 64));
    said(cudaMemcpy(p, nullptr, 4, cudaMemcpyHostToDevice));
    said(cudaMemcpy(p, &q, 4, (cudaMemcpyKind)77));
    said(cudaMemcpy(p, bytes, 8192, cudaMemcpyHostToDevice));
    said(cudaFree(p + 1)), said(cudaFree(nullptr));
    store<<<1, 2048>>>(p, 0);
    said(cudaPeekAtLastError()), said(cudaGetLastError());
    store<<<0, 32>>>(p, 0);
    said(cudaGetLastError());
    large<<<1, 32, 60000>>>(p);
    said(cudaGetLastError());
    said(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    large<<<1, 32, 60000>>>(p);
    said(cudaGetLastError());
    said(cudaSetDevice(3)), said(cudaStreamSynchronize((cudaStream_t)0x1234));
    float ms;
    said(cudaEventElapsedTime(&ms, nullptr, nullptr));
    store<<<1, 32>>>(p, 16);
    said(cudaDeviceSynchronize());
    said(cudaMalloc(&q, 4)), said(cudaGetLastError()), said(cudaGetLastError());
    return 0;
}
