// Products of matrices of halves on tensor pipes, with sums in single precision: a ladder of mma.sync, and nvcuda::wmma.
// A is m x k and row-major, as is C, m x n. B is k x n and row-major; where a kernel says so, it is transposed.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

// 16 x 16 of A by 16 x 8 of B.
__device__ __forceinline__ void multiply(float *sums, const unsigned *a, const unsigned *b)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ unsigned shared_address(const void *place)
{
    return (unsigned)__cvta_generic_to_shared(place);
}

// 16 x 16 of A.
__device__ __forceinline__ void load_four(unsigned *into, const uint4 *from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3]) : "r"(shared_address(from)));
}

// 16 x 8 of B.
__device__ __forceinline__ void load_two(unsigned *into, const uint4 *from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(into[0]), "=r"(into[1]) : "r"(shared_address(from)));
}

__device__ __forceinline__ void copy_async(uint4 *into, const uint4 *from)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared_address(into)), "l"(from));
}

constexpr int WARPS_N = 4; // two rows of four warps

// Tiles of 32 x 32 in shared memory, TILES x TILES of them a block; halves are loaded one by one.
template <int TILES>
__global__ void __launch_bounds__(256) by_halves(int m, int n, int k, const half *a, const half *b, float *c)
{
    __shared__ half tile_a[TILES * 32][16];
    __shared__ half tile_b[16][TILES * 32];
    const int row = TILES * 32 * blockIdx.y, column = TILES * 32 * blockIdx.x;
    const int x = threadIdx.x, y = threadIdx.y;
    const int thread = y * blockDim.x + x, warp = thread / 32, lane = thread % 32;
    const int warp_row = 16 * (warp / WARPS_N), warp_column = 8 * (warp % WARPS_N);
    const int of_eight = lane / 4, of_four = lane % 4;

    half of_a[8], of_b[4];
    float sums[TILES][TILES][4] = {0.0f};
    for (int step = 0; step < k; step += 16) {
        for (int i = 0; i < TILES * 32; i += 16)
            tile_a[i + y][x] = a[(row + i + y) * k + step + x];
        for (int j = 0; j < TILES * 32; j += 16)
            tile_b[y][j + x] = b[(step + y) * n + column + j + x];
        __syncthreads();
        for (int i = 0; i < TILES; ++i) {
            for (int e = 0; e < 8; ++e)
                of_a[e] = tile_a[i * 32 + warp_row + of_eight + e / 2 % 2 * 8][of_four * 2 + e % 2 + e / 4 * 8];
            for (int j = 0; j < TILES; ++j) {
                for (int e = 0; e < 4; ++e)
                    of_b[e] = tile_b[of_four * 2 + e % 2 + e / 2 * 8][j * 32 + warp_column + of_eight];
                multiply(sums[i][j], reinterpret_cast<const unsigned *>(of_a), reinterpret_cast<const unsigned *>(of_b));
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < TILES; ++i)
        for (int j = 0; j < TILES; ++j)
            for (int e = 0; e < 4; ++e)
                c[(row + i * 32 + warp_row + of_eight + e / 2 * 8) * n + column + j * 32 + warp_column + of_four * 2 + e % 2] =
                    sums[i][j][e];
}

// Tiles of 32 k lie in shared memory two rows to a line of eight 16-byte chunks, which are exchanged by line, so that no
// eight rows of ldmatrix share a bank.
typedef uint4 Line[8];

// Where a thread's chunk of a tile goes, and where its address for ldmatrix is: line and chunk.
struct Place {
    int line, chunk;
};

__device__ __forceinline__ Place place_to_store(int warp, int lane)
{
    return {warp * 4 + lane / 8, lane % 8 ^ lane / 8};
}

// `rows` of a matrix, with as many chunks side by side as the lanes have.
__device__ __forceinline__ Place place_to_load(int lane, int rows)
{
    const int line = lane % rows / 2;
    return {line, lane / rows + 4 * (lane % 2) ^ line % 4};
}

// The sums of a warp: TILES x TILES of 16 x 8.
template <int TILES>
__device__ __forceinline__ void store_sums(const float (*sums)[TILES][4], float *c, int n, int row, int column, int lane)
{
    for (int i = 0; i < TILES; ++i)
        for (int j = 0; j < TILES; ++j)
            for (int half = 0; half < 2; ++half) {
                const int place = (row + i * 16 + lane / 4 + half * 8) * n + column + j * 8 + lane % 4 * 2;
                *reinterpret_cast<float2 *>(c + place) = make_float2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
            }
}

// 64 x 64 a block, B transposed. KEEP: what is loaded of A stays for all products with it.
template <bool KEEP>
__global__ void __launch_bounds__(256) exchanged(int m, int n, int k, const half *a, const half *b, float *c)
{
    __shared__ Line tile_a[32], tile_b[32];
    const int row = blockIdx.y * 64, column = blockIdx.x * 64;
    const uint4 *from_a = reinterpret_cast<const uint4 *>(a + row * k);
    const uint4 *from_b = reinterpret_cast<const uint4 *>(b + column * k);
    const int thread = threadIdx.y * blockDim.x + threadIdx.x, warp = thread / 32, lane = thread % 32;
    const int line_a = 16 * (warp / WARPS_N), line_b = 8 * (warp % WARPS_N);
    const Place store = place_to_store(warp, lane), of_a = place_to_load(lane % 32, 16), of_b = place_to_load(lane, 8);

    unsigned left[8], right[2];
    float sums[2][2][4] = {0.0f};
    for (int step = 0; step < k / 8; step += 4) {
        tile_a[store.line][store.chunk] = from_a[(warp * 8 + lane / 4) * k / 8 + step + lane % 4];
        tile_b[store.line][store.chunk] = from_b[(warp * 8 + lane / 4) * k / 8 + step + lane % 4];
        __syncthreads();
        for (int i = 0; i < 2; ++i) {
            const uint4 *at_a = tile_a[line_a + i * 8 + of_a.line];
            if (KEEP) {
                load_four(left, at_a + of_a.chunk);
                load_four(left + 4, at_a + (of_a.chunk ^ 2));
            }
            for (int j = 0; j < 2; ++j) {
                const uint4 *at_b = tile_b[line_b + j * 4 + of_b.line];
                if (!KEEP)
                    load_four(left, at_a + of_a.chunk);
                load_two(right, at_b + of_b.chunk);
                multiply(sums[i][j], left, right);
                if (!KEEP)
                    load_four(left + 4, at_a + (of_a.chunk ^ 2));
                load_two(right, at_b + (of_b.chunk ^ 2));
                multiply(sums[i][j], left + 4, right);
            }
        }
        __syncthreads();
    }
    store_sums<2>(sums, c, n, row + 2 * line_a, column + 2 * line_b, lane);
}

// The same with copies of three stages in flight; 64 SCALE x 64 SCALE a block.
template <int SCALE>
__global__ void __launch_bounds__(256) staged(int m, int n, int k, const half *a, const half *b, float *c)
{
    constexpr int STAGES = 3, LINES = 32 * SCALE, TILES = 2 * SCALE;
    __shared__ Line tile_a[STAGES * LINES], tile_b[STAGES * LINES];
    const int row = blockIdx.y * 64 * SCALE, column = blockIdx.x * 64 * SCALE;
    const int thread = threadIdx.y * blockDim.x + threadIdx.x, warp = thread / 32, lane = thread % 32;
    const int line_a = 16 * SCALE * (warp / WARPS_N), line_b = 8 * SCALE * (warp % WARPS_N);
    const Place store = place_to_store(warp, lane), of_a = place_to_load(lane % 32, 16), of_b = place_to_load(lane, 8);
    const uint4 *from_a = reinterpret_cast<const uint4 *>(a + row * k) + (warp * 8 + lane / 4) * k / 8 + lane % 4;
    const uint4 *from_b = reinterpret_cast<const uint4 *>(b + column * k) + (warp * 8 + lane / 4) * k / 8 + lane % 4;

    auto fetch = [&](int stage, int step) {
        for (int i = 0; i < SCALE; ++i)
            copy_async(tile_a[LINES * stage + store.line + 32 * i] + store.chunk, from_a + 64 * i * k / 8 + step);
        for (int i = 0; i < SCALE; ++i)
            copy_async(tile_b[LINES * stage + store.line + 32 * i] + store.chunk, from_b + 64 * i * k / 8 + step);
        asm volatile("cp.async.commit_group;");
    };

    unsigned left[TILES][8], right[TILES][4];
    float sums[TILES][TILES][4] = {0.0f};
    for (int stage = 0; stage < STAGES - 1; ++stage)
        fetch(stage, 4 * stage);
    for (int turn = 0; turn < k / 32; ++turn) {
        const Line *now_a = tile_a + LINES * (turn % STAGES), *now_b = tile_b + LINES * (turn % STAGES);
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();
        for (int i = 0; i < TILES; ++i) {
            load_four(left[i], now_a[i * 8 + line_a + of_a.line] + of_a.chunk);
            load_four(left[i] + 4, now_a[i * 8 + line_a + of_a.line] + (of_a.chunk ^ 2));
        }
        for (int j = 0; j < TILES; ++j) {
            load_two(right[j], now_b[j * 4 + line_b + of_b.line] + of_b.chunk);
            load_two(right[j] + 2, now_b[j * 4 + line_b + of_b.line] + (of_b.chunk ^ 2));
        }
        // behind the last stage this one is fetched again
        fetch((turn + STAGES - 1) % STAGES, min(4 * (turn + STAGES - 1), k / 8 - 4));
        for (int i = 0; i < TILES; ++i)
            for (int j = 0; j < TILES; ++j) {
                multiply(sums[i][j], left[i], right[j]);
                multiply(sums[i][j], left[i] + 4, right[j] + 2);
            }
    }
    store_sums<TILES>(sums, c, n, row + 2 * line_a, column + 2 * line_b, lane);
}

// nvcuda::wmma, BM x BN by four rows of four warps, copies of STAGES stages in flight.
template <int BM, int BN, int STAGES>
__global__ void __launch_bounds__(512)
    fragments(const half *__restrict__ a, const half *__restrict__ b, float *__restrict__ c, int m, int n, int k)
{
    using namespace nvcuda;
    constexpr int THREADS = 512, BK = 32, TILES_M = BM / 64, TILES_N = BN / 64, STAGE = BM * BK + BK * BN;
    extern __shared__ half tiles[];
    half *tile_a[STAGES], *tile_b[STAGES];
#pragma unroll
    for (int stage = 0; stage < STAGES; ++stage) {
        tile_a[stage] = tiles + stage * STAGE;
        tile_b[stage] = tile_a[stage] + BM * BK;
    }
    const int warp = threadIdx.x / 32, warp_row = warp / 4, warp_column = warp % 4;
    const int row = blockIdx.y * BM, column = blockIdx.x * BN;

    // Eight halves a thread and turn; zeros outside the matrices.
    auto fetch = [&](int stage, int step) {
#pragma unroll
        for (int i = threadIdx.x; i < BM * BK / 8; i += THREADS) {
            const int y = i * 8 / BK, x = i * 8 % BK;
            half *into = &tile_a[stage][y * BK + x];
            if (row + y < m)
                __pipeline_memcpy_async(into, &a[(row + y) * k + step + x], 16);
            else
                *reinterpret_cast<float4 *>(into) = make_float4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = threadIdx.x; i < BK * BN / 8; i += THREADS) {
            const int y = i * 8 / BN, x = i * 8 % BN;
            half *into = &tile_b[stage][y * BN + x];
            if (column + x < n)
                __pipeline_memcpy_async(into, &b[(step + y) * n + column + x], 16);
            else
                *reinterpret_cast<float4 *>(into) = make_float4(0, 0, 0, 0);
        }
    };

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[TILES_M][TILES_N];
#pragma unroll
    for (int i = 0; i < TILES_M; ++i)
        for (int j = 0; j < TILES_N; ++j)
            wmma::fill_fragment(sums[i][j], 0.0f);
    const int turns = (k + BK - 1) / BK;
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage) {
        if (stage < turns)
            fetch(stage, stage * BK);
        __pipeline_commit();
    }
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[TILES_M];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right[TILES_N];
    for (int turn = 0; turn < turns; ++turn) {
        const int next = turn + STAGES - 1;
        if (next < turns) {
            fetch(next % STAGES, next * BK);
            __pipeline_commit();
        }
        __pipeline_wait_prior(STAGES - 1);
        __syncthreads();
        const half *now_a = tile_a[turn % STAGES], *now_b = tile_b[turn % STAGES];
#pragma unroll
        for (int inner = 0; inner < BK; inner += 16) {
#pragma unroll
            for (int i = 0; i < TILES_M; ++i)
                wmma::load_matrix_sync(left[i], now_a + (warp_row * TILES_M + i) * 16 * BK + inner, BK);
#pragma unroll
            for (int j = 0; j < TILES_N; ++j)
                wmma::load_matrix_sync(right[j], now_b + inner * BN + (warp_column * TILES_N + j) * 16, BN);
#pragma unroll
            for (int i = 0; i < TILES_M; ++i)
#pragma unroll
                for (int j = 0; j < TILES_N; ++j)
                    wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TILES_M; ++i)
#pragma unroll
        for (int j = 0; j < TILES_N; ++j) {
            const int y = row + (warp_row * TILES_M + i) * 16, x = column + (warp_column * TILES_N + j) * 16;
            if (y < m && x < n)
                wmma::store_matrix_sync(c + y * n + x, sums[i][j], n, wmma::mem_row_major);
        }
}
