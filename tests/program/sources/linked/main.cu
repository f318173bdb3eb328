// Device code over two files: functions, variables and constants of the other one, and static kernels of one name.
#include <cstdio>
#include "parts.h"
__constant__ int factor = 3;
static __device__ int hidden = 5;
static __global__ void same(int *p) { p[1] = hidden + helper(2); }
__global__ void k(int *p) { p[0] = square(p[0]) + table[1] + counter; }
int main()
{
    int *p, got[3], start[3] = {4, 0, 0}, seven = 7;
    cudaMalloc(&p, 12);
    cudaMemcpy(p, start, 12, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(counter, &seven, 4);
    k<<<1, 1>>>(p);
    same<<<1, 1>>>(p);
    third(p);
    cudaMemcpy(got, p, 12, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&seven, counter, 4);
    printf("%d %d %d %d %s\n", got[0], got[1], got[2], seven, cudaGetErrorName(cudaGetLastError()));
}
