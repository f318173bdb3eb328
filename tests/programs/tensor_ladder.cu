// One matrix product with more and less pipelining, and with and without bank conflicts: c = a * b, all row-major, 64 x 64 a block.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "matrices.h"

// STAGES tiles of 32 k in shared memory, whose rows are PAD elements longer than they need be.
template <int STAGES, int PAD> __global__ void product(const half *a, const half *b, float *c, int n, int k)
{
    __shared__ __align__(16) half sa[STAGES][64][32 + PAD], sb[STAGES][32][64 + PAD];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = blockIdx.y * 64, column = blockIdx.x * 64, top = warp / 2 * 32, left = warp % 2 * 32;
    auto fetch = [&](int step) {
        int stage = step / 32 % STAGES;
        if (step < k)
            for (int i = threadIdx.x; i < 256; i += 128) {
                __pipeline_memcpy_async(&sa[stage][i / 4][i % 4 * 8], &a[(row + i / 4) * k + step + i % 4 * 8], 16);
                __pipeline_memcpy_async(&sb[stage][i / 8][i % 8 * 8], &b[(step + i / 8) * n + column + i % 8 * 8], 16);
            }
        __pipeline_commit();
    };
    float sums[2][4][4] = {};
    for (int s = 0; s < STAGES - 1; s++)
        fetch(32 * s);
    for (int step = 0; step < k; step += 32) {
        fetch(step + 32 * (STAGES - 1));
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        int stage = step / 32 % STAGES;
        for (int inner = 0; inner < 32; inner += 16) {
            unsigned fa[2][4], fb[2][4];
            for (int i = 0; i < 2; i++) {
                load_matrices(fa[i], &sa[stage][top + 16 * i + lane % 16][inner + lane / 16 * 8]);
                load_transposed(fb[i], &sb[stage][inner + lane % 16][left + 16 * i + lane / 16 * 8]);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    multiply(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++)
                c[(row + top + 16 * i + lane / 4 + e / 2 * 8) * n + column + left + 8 * j + lane % 4 * 2 + e % 2] = sums[i][j][e];
}
