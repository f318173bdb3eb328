// Matrix products with nvcuda::wmma: a tiled product through shared memory, and one kernel that takes any type.
#include <mma.h>

using namespace nvcuda;

// c = a * b for row-major a (m x k) and b (k x n), with a tile of 32 x 32 a block of four warps, elementwise scaled.
__global__ void tiled(const half *a, const half *b, float *c, int n, int k, float scale)
{
    __shared__ half sa[32 * 24], sb[16 * 40];  // padded rows
    int warp = threadIdx.x / 32, row = blockIdx.y * 32, column = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int step = 0; step < k; step += 16) {
        for (int i = threadIdx.x; i < 512; i += 128) {
            sa[i / 16 * 24 + i % 16] = a[(row + i / 16) * k + step + i % 16];
            sb[i / 32 * 40 + i % 32] = b[(step + i / 32) * n + column + i % 32];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, sa + warp / 2 * 16 * 24, 24);
        wmma::load_matrix_sync(fb, sb + warp % 2 * 16, 40);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncthreads();
    }
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] *= scale;
    wmma::store_matrix_sync(c + (row + warp / 2 * 16) * n + column + warp % 2 * 16, sum, n, wmma::mem_row_major);
}

// d = a * b + c of one shape; a in rows, b in columns.
template <int M, int N, int K, typename T, typename Pointed, typename C, typename D>
__device__ void one(const Pointed *a, const Pointed *b, const C *c, D *d)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc;
    wmma::fragment<wmma::accumulator, M, N, K, D> fd;
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, K);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::mma_sync(fd, fa, fb, fc);
    wmma::store_matrix_sync(d, fd, M, wmma::mem_col_major);
}

__global__ void halves(const half *a, const half *b, const half *c, half *d) { one<32, 8, 16, half>(a, b, c, d); }
__global__ void widened(const half *a, const half *b, const half *c, float *d) { one<8, 32, 16, half>(a, b, c, d); }
__global__ void bfloats(const __nv_bfloat16 *a, const __nv_bfloat16 *b, const float *c, float *d) { one<8, 32, 16, __nv_bfloat16>(a, b, c, d); }
__global__ void tensor_floats(const float *a, const float *b, const float *c, float *d)
{
    one<16, 16, 8, wmma::precision::tf32>(a, b, c, d);
}
__global__ void doubles(const double *a, const double *b, const double *c, double *d) { one<8, 8, 4, double>(a, b, c, d); }
__global__ void bytes(const signed char *a, const signed char *b, const int *c, int *d) { one<32, 8, 16, signed char>(a, b, c, d); }
__global__ void unsigned_bytes(const unsigned char *a, const unsigned char *b, const int *c, int *d) { one<16, 16, 16, unsigned char>(a, b, c, d); }

__global__ void bits(const unsigned *a, const unsigned *b, const int *c, int *d)
{
    using namespace wmma::experimental;
    wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
    wmma::load_matrix_sync(fa, a, 128);
    wmma::load_matrix_sync(fb, b, 128);
    wmma::load_matrix_sync(sum, c, 8, wmma::mem_row_major);
    wmma::bmma_sync(sum, fa, fb, sum, bmmaBitOpXOR);
    wmma::bmma_sync(sum, fa, fb, sum, bmmaBitOpAND);
    wmma::store_matrix_sync(d, sum, 8, wmma::mem_row_major);
}

__global__ void nibbles(const unsigned *a, const unsigned *b, const int *c, int *d)
{
    using wmma::experimental::precision::s4;
    wmma::fragment<wmma::matrix_a, 8, 8, 32, s4, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, s4, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> sum;
    wmma::load_matrix_sync(fa, a, 32);
    wmma::load_matrix_sync(fb, b, 32);
    wmma::load_matrix_sync(sum, c, 8, wmma::mem_row_major);
    wmma::mma_sync(sum, fa, fb, sum, true);
    wmma::store_matrix_sync(d, sum, 8, wmma::mem_row_major);
}
