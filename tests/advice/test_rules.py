"""Rules on kernels that no pair of the corpus has."""

import json

from tests.support.command import gpuprof

# The second kernel is not launched: its tensor instructions are no matter.
PRODUCTS = """// LAUNCH: product<<<(4, 4), (16, 16)>>>(bf16[64,64]=random, bf16[64,64]=random, f32[64,64], 64)
#include <cuda_bf16.h>
#include <mma.h>

__global__ void product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n)
{
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += __bfloat162float(a[row * n + k]) * __bfloat162float(b[k * n + column]);
    c[row * n + column] = sum;
}

__global__ void on_tensor_pipes(const half *a, const half *b, float *c)
{
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> of_a;
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::row_major> of_b;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sums;
    nvcuda::wmma::fill_fragment(sums, 0.0f);
    nvcuda::wmma::load_matrix_sync(of_a, a, 16);
    nvcuda::wmma::load_matrix_sync(of_b, b, 16);
    nvcuda::wmma::mma_sync(sums, of_a, of_b, sums);
    nvcuda::wmma::store_matrix_sync(c, sums, 16, nvcuda::wmma::mem_row_major);
}
"""


def test_a_product_of_bfloat16_is_one_for_tensor_pipes(tmp_path):
    """64 turns of 8 warps in 16 blocks: 8,192 multiplications."""
    (tmp_path / "products.cu").write_text(PRODUCTS)
    code, out, error = gpuprof(tmp_path, "advise", "products.cu", "--json")
    assert (code, error) == (0, "")
    (kernel,) = json.loads(out)["kernels"]
    said = [(piece["evidence"], piece["place"]) for piece in kernel["advice"] if piece["topic"] == "tensor_cores"]
    assert said == [("8,192 multiplications of halves by warps, and none on the tensor pipe", "products.cu:10")]
