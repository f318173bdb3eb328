#include "parts.h"
__device__ int counter = 100;
__device__ int table[4] = {1, 2, 3, 4};
static __device__ int hidden = 50;
__device__ int helper(int x) { return x * factor; }
__device__ __noinline__ int square(int x) { counter += 1; return x * x; }
static __global__ void same(int *p) { p[2] = hidden + blockDim.x; }
void third(int *p) { same<<<1, 8>>>(p); }
