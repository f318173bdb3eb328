// Matrix products of the benchmarks: by mma.sync with asynchronous copies and ldmatrix, and by warp groups with tensor
// maps. All matrices are row-major; c = a * b, or a * transpose(b) for warp groups.
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "../programs/matrices.h"

// 128 x 128 a block of eight warps, 64 x 32 each; two stages of 32 k; rows of shared memory are padded by 16 bytes.
__global__ void __launch_bounds__(256) product(const half *a, const half *b, float *c, int n, int k)
{
    __shared__ __align__(16) half sa[2][128][40], sb[2][32][136];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = blockIdx.y * 128, column = blockIdx.x * 128, top = warp / 4 * 64, left = warp % 4 * 32;
    auto fetch = [&](int stage, int step) {
        for (int i = threadIdx.x; i < 512; i += 256) {
            __pipeline_memcpy_async(&sa[stage][i / 4][i % 4 * 8], &a[(row + i / 4) * k + step + i % 4 * 8], 16);
            __pipeline_memcpy_async(&sb[stage][i / 16][i % 16 * 8], &b[(step + i / 16) * n + column + i % 16 * 8], 16);
        }
        __pipeline_commit();
    };
    float sums[4][4][4] = {};
    fetch(0, 0);
    for (int step = 0, stage = 0; step < k; step += 32, stage ^= 1) {
        if (step + 32 < k) {
            fetch(stage ^ 1, step + 32);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
#pragma unroll
        for (int inner = 0; inner < 32; inner += 16) {
            unsigned fa[4][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                load_matrices(fa[i], &sa[stage][top + 16 * i + lane % 16][inner + lane / 16 * 8]);
#pragma unroll
            for (int i = 0; i < 2; i++)
                load_transposed(fb[i], &sb[stage][inner + lane % 16][left + 16 * i + lane / 16 * 8]);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    multiply(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                c[(row + top + 16 * i + lane / 4 + e / 2 * 8) * n + column + left + 8 * j + lane % 4 * 2 + e % 2] =
                    sums[i][j][e];
}

// Rows of 64 k, swizzled by 128 bytes, eight of them after the other.
__device__ unsigned long long descriptor(unsigned address)
{
    return (unsigned long long)(address >> 4 & 0x3fff) | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

__device__ void load_tile(unsigned to, const CUtensorMap *map, int k, int row, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(k), "r"(row), "r"(barrier) : "memory");
}

__device__ void wait_for(unsigned barrier, int parity)
{
    asm volatile("{\n .reg .pred p;\nwait_%=:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 " @!p bra wait_%=;\n}" ::"r"(barrier), "r"(parity) : "memory");
}

__device__ void multiply_group(float (&d)[64], unsigned long long a, unsigned long long b, int accumulates)
{
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
                     "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
                     "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "
                     "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "
                     "%56, %57, %58, %59, %60, %61, %62, %63"
                 "}, %64, %65, p, 1, 1, 0, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), 
                         "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), 
                         "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), 
                         "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), 
                         "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), 
                         "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), 
                         "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), 
                         "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), 
                         "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), 
                         "+f"(d[63])
                 : "l"(a), "l"(b), "r"(accumulates) : "memory");
}

// 128 x 128 a block of two warp groups, 64 x 128 each; two stages of 64 k, both operands brought by tensor maps with
// boxes of 128 x 64. b is transposed.
__global__ void __launch_bounds__(256)
    grouped(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c, int n, int k)
{
    extern __shared__ __align__(1024) half tiles[]; // [stage][a, b][128 * 64]
    __shared__ __align__(8) unsigned long long barriers[2];
    const int tile_nbytes = 128 * 64 * 2;
    int row = blockIdx.y * 128, column = blockIdx.x * 128, group = threadIdx.x / 128;
    unsigned base = shared_address(tiles), barrier = shared_address(barriers);
    auto fetch = [&](int stage, int step) {
        unsigned mine = barrier + 8 * stage, to = base + 2 * tile_nbytes * stage;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mine), "r"(2 * tile_nbytes)
                     : "memory");
        load_tile(to, &a, step, row, mine);
        load_tile(to + tile_nbytes, &b, step, column, mine);
    };
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier + 8 * i) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        fetch(0, 0);
    }
    __syncthreads();
    float d[64];
    for (int step = 0, i = 0; step < k; step += 64, i++) {
        if (threadIdx.x == 0 && step + 64 < k)
            fetch((i + 1) % 2, step + 64);
        wait_for(barrier + 8 * (i % 2), i / 2 % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        unsigned from = base + 2 * tile_nbytes * (i % 2);
#pragma unroll
        for (int inner = 0; inner < 64; inner += 16)
            multiply_group(d, descriptor(from + group * 64 * 128 + 2 * inner),
                           descriptor(from + tile_nbytes + 2 * inner),
                           step + inner);
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int i = 0; i < 64; i++)
        c[(row + 16 * warp + lane / 4 + i / 2 % 2 * 8) * n + column + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}
