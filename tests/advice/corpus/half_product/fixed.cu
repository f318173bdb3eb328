// C (f32) = A * B for matrices of half precision, through 16 x 16 tiles in shared memory.
//
// LAUNCH: product<<<(12, 12), 32>>>(a: f16[192,192]=random, b: f16[192,192]=random, c: f32[192,192], 192)

#include <mma.h>

constexpr int TILE = 16;

__global__ void product(const half *a, const half *b, float *c, int n)
{
    using namespace nvcuda::wmma;
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    fragment<matrix_a, TILE, TILE, TILE, half, row_major> left;
    fragment<matrix_b, TILE, TILE, TILE, half, row_major> right;
    fragment<accumulator, TILE, TILE, TILE, float> sum;
    fill_fragment(sum, 0.0f);
    for (int k0 = 0; k0 < n; k0 += TILE) {
        load_matrix_sync(left, a + row0 * n + k0, n);
        load_matrix_sync(right, b + k0 * n + col0, n);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(c + row0 * n + col0, sum, n, mem_row_major);
}
