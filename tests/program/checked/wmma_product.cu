// A product of matrices on the tensor cores: halves in, floats out.
#include "check.h"
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void product(const half *a, const half *b, float *c, int n)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(left, a + blockIdx.y * 16 * n + k, n);
        wmma::load_matrix_sync(right, b + k * n + blockIdx.x * 16, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}
int main()
{
    const int n = 32;
    static half a[n * n], b[n * n];
    static float c[n * n];
    for (int i = 0; i < n * n; ++i)
        a[i] = __float2half(float(i % 5) - 2), b[i] = __float2half(float(i % 7) * 0.25f);
    half *left, *right;
    float *out;
    CHECK(cudaMalloc(&left, sizeof a));
    CHECK(cudaMalloc(&right, sizeof b));
    CHECK(cudaMalloc(&out, sizeof c));
    CHECK(cudaMemcpy(left, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(right, b, sizeof b, cudaMemcpyHostToDevice));
    product<<<dim3(2, 2), 32>>>(left, right, out, n);
    CHECK(cudaMemcpy(c, out, sizeof c, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x) {
            float sum = 0;
            for (int k = 0; k < n; ++k)
                sum += __half2float(a[y * n + k]) * __half2float(b[k * n + x]);
            is_right &= c[y * n + x] == sum; // small multiples of 1/4: exact in any order
        }
    return verdict(is_right);
}
