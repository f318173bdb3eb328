// C (f32) = A * B for matrices of half precision, through 16 x 16 tiles in shared memory.
//
// LAUNCH: product<<<(12, 12), 256>>>(a: f16[192,192]=random, b: f16[192,192]=random, c: f32[192,192], 192)

#include <mma.h>

constexpr int TILE = 16;

__global__ void product(const half *a, const half *b, float *c, int n)
{
    __shared__ half as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x % TILE, ty = threadIdx.x / TILE;
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        as[ty][tx] = a[(row0 + ty) * n + k0 + tx];
        bs[ty][tx] = b[(k0 + ty) * n + col0 + tx];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += __half2float(as[ty][k]) * __half2float(bs[k][tx]);
        __syncthreads();
    }
    c[(row0 + ty) * n + col0 + tx] = sum;
}
