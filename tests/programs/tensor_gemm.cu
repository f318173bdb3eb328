// Matrix products as hand-tuned kernels write them: asynchronous copies, ldmatrix and mma.sync; and a warp group with descriptors.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "matrices.h"

// c = a * b, all row-major: 64 x 64 a block of four warps, 32 x 32 each; two stages of 32 k; rows of shared memory are padded by 16 bytes.
__global__ void pipelined(const half *a, const half *b, float *c, int n, int k)
{
    __shared__ __align__(16) half sa[2][64][40], sb[2][32][72];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = blockIdx.y * 64, column = blockIdx.x * 64, top = warp / 2 * 32, left = warp % 2 * 32;
    auto fetch = [&](int stage, int step) {
        for (int i = threadIdx.x; i < 256; i += 128) {
            __pipeline_memcpy_async(&sa[stage][i / 4][i % 4 * 8], &a[(row + i / 4) * k + step + i % 4 * 8], 16);
            __pipeline_memcpy_async(&sb[stage][i / 8][i % 8 * 8], &b[(step + i / 8) * n + column + i % 8 * 8], 16);
        }
        __pipeline_commit();
    };
    float sums[2][4][4] = {};
    fetch(0, 0);
    for (int step = 0, stage = 0; step < k; step += 32, stage ^= 1) {
        if (step + 32 < k) {
            fetch(stage ^ 1, step + 32);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
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

// Where 16 bytes of a row of 128 go: chunks are exchanged by row.
__device__ half *place(half *tile, int row, int chunk) { return tile + row * 64 + (chunk ^ row % 8) * 8; }

__device__ unsigned long long descriptor(const half *tile)
{
    unsigned long long start = shared_address(tile) >> 4 & 0x3fff;
    return start | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

// c = a * transpose(b), a (m x k) and b (n x k) row-major: 64 x 32 a warp group, 64 k at a time, both operands in swizzled shared memory.
__global__ void grouped(const half *a, const half *b, float *c, int n, int k)
{
    __shared__ __align__(1024) half sa[64 * 64], sb[32 * 64];
    int row = blockIdx.y * 64, column = blockIdx.x * 32;
    float d[16];
    for (int step = 0; step < k; step += 64) {
        for (int i = threadIdx.x; i < 512; i += 128)
            *(uint4 *)place(sa, i / 8, i % 8) = *(const uint4 *)&a[(row + i / 8) * k + step + i % 8 * 8];
        for (int i = threadIdx.x; i < 256; i += 128)
            *(uint4 *)place(sb, i / 8, i % 8) = *(const uint4 *)&b[(column + i / 8) * k + step + i % 8 * 8];
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int inner = 0; inner < 64; inner += 16)
            asm volatile("{ .reg .pred p; setp.ne.s32 p, %18, 0;\n"
                         "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 "
                         "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, p, 1, 1, 0, 0; }"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
                           "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
                         : "l"(descriptor(sa + inner)), "l"(descriptor(sb + inner)), "r"(step + inner) : "memory");
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = 0; i < 16; i++)
        c[(row + 16 * warp + lane / 4 + i / 2 % 2 * 8) * n + column + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}
