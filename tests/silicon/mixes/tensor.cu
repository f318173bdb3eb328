// One product of 16 x 16 x 16 halves a warp, straight from global memory.
#include <mma.h>
using namespace nvcuda;

__global__ void product_of_halves(half *a, half *b, float *c, int m, int n, int k)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, column = blockIdx.y * blockDim.y + threadIdx.y;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a + row * 16 * k, k);
    wmma::load_matrix_sync(right, b + column * 16 * k, k);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c + row * 16 * n + column * 16, sum, n, wmma::mem_row_major);
}
