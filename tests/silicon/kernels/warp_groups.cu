// Products of matrices of bfloat16 on Hopper, with sums in single precision. A is m x k and row-major.
#include <cuda_bf16.h>

typedef __nv_bfloat16 bf16;
typedef unsigned int uint;
typedef unsigned long long Address;

// Four elements of 8 bytes.
__device__ __forceinline__ void store_four(bf16 *place, const float *sums)
{
    bf16 four[4];
    for (int e = 0; e < 4; ++e)
        four[e] = __float2bfloat16(sums[e]);
    float2 bits;
    memcpy(&bits, four, sizeof bits);
    *reinterpret_cast<float2 *>(place) = bits;
}

// No tensor pipes: B is k x n, C m x n, row-major. A WM x WN tile a warp, in STEPS_N steps along a row.
template <int BM, int BN, int BK, int WM, int WN, int STEPS_N, int TM, int TN, int THREADS>
__global__ void __launch_bounds__(THREADS) without_tensor(int m, int n, int k, bf16 *a, bf16 *b, bf16 *c)
{
    __shared__ bf16 tile_a[BM * BK];
    __shared__ bf16 tile_b[BK * BN];
    constexpr uint STEPS_M = WM * WN / (32 * TM * TN * STEPS_N);
    constexpr uint SUB_M = WM / STEPS_M, SUB_N = WN / STEPS_N;
    constexpr uint ROWS_OF_A = THREADS * 4 / BK, ROWS_OF_B = THREADS / (BN / 4);
    const uint warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint warp_column = warp % (BN / WN), warp_row = warp / (BN / WN);
    const uint x = lane % (SUB_N / TN), y = lane / (SUB_N / TN);
    const uint a_row = threadIdx.x / (BK / 4), a_column = threadIdx.x % (BK / 4);
    const uint b_row = threadIdx.x / (BN / 4), b_column = threadIdx.x % (BN / 4);
    const uint tile_row = blockIdx.y, tile_column = blockIdx.x;
    a += tile_row * BM * k;
    b += tile_column * BN;
    c += (tile_row * BM + warp_row * WM) * n + tile_column * BN + warp_column * WN;

    float sums[STEPS_M * TM * STEPS_N * TN] = {0.0f};
    bf16 of_a[STEPS_M * TM] = {0.0f}, of_b[STEPS_N * TN] = {0.0f};
    for (uint step = 0; step < k; step += BK) {
        for (uint row = 0; row + ROWS_OF_A <= BM; row += ROWS_OF_A) {
            bf16 four[4];
            const float2 bits = *reinterpret_cast<const float2 *>(&a[(a_row + row) * k + a_column * 4]);
            memcpy(four, &bits, sizeof bits);
            for (int e = 0; e < 4; ++e)
                tile_a[(a_column * 4 + e) * BM + a_row + row] = four[e];
        }
        for (uint row = 0; row + ROWS_OF_B <= BK; row += ROWS_OF_B)
            *reinterpret_cast<float2 *>(&tile_b[(b_row + row) * BN + b_column * 4]) =
                *reinterpret_cast<const float2 *>(&b[(b_row + row) * n + b_column * 4]);
        __syncthreads();
        for (uint i = 0; i < BK; ++i) {
            for (uint wm = 0; wm < STEPS_M; ++wm)
                for (uint r = 0; r < TM; ++r)
                    of_a[wm * TM + r] = tile_a[i * BM + warp_row * WM + wm * SUB_M + y * TM + r];
            for (uint wn = 0; wn < STEPS_N; ++wn)
                for (uint s = 0; s < TN; ++s)
                    of_b[wn * TN + s] = tile_b[i * BN + warp_column * WN + wn * SUB_N + x * TN + s];
            for (uint wm = 0; wm < STEPS_M; ++wm)
                for (uint wn = 0; wn < STEPS_N; ++wn)
                    for (uint r = 0; r < TM; ++r)
                        for (uint s = 0; s < TN; ++s)
                            sums[(wm * TM + r) * (STEPS_N * TN) + wn * TN + s] +=
                                __bfloat162float(of_a[wm * TM + r]) * __bfloat162float(of_b[wn * TN + s]);
        }
        a += BK;
        b += BK * n;
        __syncthreads();
    }
    for (uint wm = 0; wm < STEPS_M; ++wm)
        for (uint wn = 0; wn < STEPS_N; ++wn) {
            bf16 *corner = c + wm * SUB_M * n + wn * SUB_N;
            for (uint r = 0; r < TM; ++r)
                for (uint s = 0; s < TN; s += 4)
                    store_four(&corner[(y * TM + r) * n + x * TN + s],
                               &sums[(wm * TM + r) * (STEPS_N * TN) + wn * TN + s]);
        }
}

// A tensor map of a row-major matrix with boxes of 64 columns, swizzled by 128 bytes. The host does this where there is one.
__global__ void describe(unsigned long long *map, const bf16 *matrix, int rows, int columns, int box_rows)
{
#define REPLACE(field, type, operand, value) \
    asm volatile("tensormap.replace.tile." field ".global.b1024." type " [%0], " operand ";" ::"l"(map), value : "memory")
    REPLACE("global_address", "b64", "%1", "l"(matrix));
    REPLACE("rank", "b32", "%1", "n"(1));
    REPLACE("box_dim", "b32", "0, %1", "r"(64));
    REPLACE("box_dim", "b32", "1, %1", "r"(box_rows));
    REPLACE("global_dim", "b32", "0, %1", "r"(columns));
    REPLACE("global_dim", "b32", "1, %1", "r"(rows));
    REPLACE("global_stride", "b64", "0, %1", "l"((unsigned long long)columns * sizeof(bf16)));
    REPLACE("element_stride", "b32", "0, %1", "r"(1));
    REPLACE("element_stride", "b32", "1, %1", "r"(1));
    REPLACE("elemtype", "b32", "%1", "n"(10));
    REPLACE("interleave_layout", "b32", "%1", "n"(0));
    REPLACE("swizzle_mode", "b32", "%1", "n"(3));
    REPLACE("fill_mode", "b32", "%1", "n"(0));
#undef REPLACE
}

__device__ __forceinline__ uint shared_address(const void *place) { return (uint)__cvta_generic_to_shared(place); }

__device__ __forceinline__ void expect_arrivals(Address *barrier, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}

__device__ __forceinline__ Address arrive(Address *barrier)
{
    Address state;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(shared_address(barrier)) : "memory");
    return state;
}

__device__ __forceinline__ void arrive_expecting(Address *barrier, uint nbytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 ::"r"(shared_address(barrier)), "r"(nbytes) : "memory");
}

__device__ __forceinline__ void arrive_and_wait(Address *barrier)
{
    const Address state = arrive(barrier);
    uint ended = 0;
    while (!ended)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(ended) : "r"(shared_address(barrier)), "l"(state) : "memory");
}

__device__ __forceinline__ void fetch_box(bf16 *into, const void *map, int column, int row, Address *barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(shared_address(into)), "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier)) : "memory");
}

// Of a tile of 64 columns, swizzled by 128 bytes: eight rows are 1,024 bytes.
__device__ __forceinline__ Address descriptor(const bf16 *tile)
{
    return (Address)(shared_address(tile) & 0x3ffff) >> 4 | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

#define EIGHT(row) \
    "+f"(sums[row][0]), "+f"(sums[row][1]), "+f"(sums[row][2]), "+f"(sums[row][3]), \
    "+f"(sums[row][4]), "+f"(sums[row][5]), "+f"(sums[row][6]), "+f"(sums[row][7])

// 64 x 16 of A by 16 x 256 of B, of which each row lies along k. KEEP: the product is added to the sums.
template <int KEEP = 1> __device__ __forceinline__ void multiply(float (*sums)[8], const bf16 *a, const bf16 *b)
{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
        "}, %128, %129, %130, 1, 1, 0, 0;"
        : EIGHT(0), EIGHT(1), EIGHT(2), EIGHT(3), EIGHT(4), EIGHT(5), EIGHT(6), EIGHT(7), EIGHT(8), EIGHT(9),
          EIGHT(10), EIGHT(11), EIGHT(12), EIGHT(13), EIGHT(14), EIGHT(15)
        : "l"(descriptor(a)), "l"(descriptor(b)), "n"(KEEP));
}

// A stage's products, of which only the first may not be added to the sums.
template <int KEEP, int BK> __device__ __forceinline__ void multiply_all(float (*sums)[8], const bf16 *a, const bf16 *b)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    multiply<KEEP>(sums, a, b);
#pragma unroll
    for (int inner = 16; inner < BK; inner += 16)
        multiply(sums, a + inner, b + inner);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// 128 rows of a warp group's sums, as columns of C, whose columns are m apart.
__device__ __forceinline__ void store_sums(const float (*sums)[8], bf16 *corner, int m, int row, int thread)
{
#pragma unroll
    for (int j = 0; j < 16; ++j)
#pragma unroll
        for (int e = 0; e < 8; ++e)
            __stwt(&corner[(16 * j + 2 * (thread % 4) + e % 2 + e / 4 * 8) * m + row + e / 2 % 2 * 8],
                   __float2bfloat16(sums[j][e]));
}

// B and C are column-major. One warp group fetches boxes of 64 k by tensor maps, two multiply 64 rows each.
__global__ void __launch_bounds__(384) fetched_by_one(int m, int n, int k, bf16 *c, const void *map_a, const void *map_b)
{
    constexpr int BM = 128, BN = 256, BK = 64, STAGES = 3, CONSUMERS = 256;
    extern __shared__ __align__(1024) bf16 tiles[];
    __shared__ Address full[STAGES], empty[STAGES];
    bf16 *tile_a = tiles, *tile_b = tiles + STAGES * BM * BK;
    const int tile_row = blockIdx.x / (n / BN), tile_column = blockIdx.x % (n / BN);
    const int group = threadIdx.x / 128, thread = threadIdx.x % 128;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) {
            expect_arrivals(&full[stage], CONSUMERS + 1);
            expect_arrivals(&empty[stage], CONSUMERS + 1);
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();

    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (thread == 0)
            for (int turn = 0, stage = 0; turn < k / BK; ++turn, ++stage) {
                if (stage == STAGES)
                    stage = 0;
                arrive_and_wait(&empty[stage]);
                fetch_box(&tile_a[stage * BM * BK], map_a, turn * BK, tile_row * BM, &full[stage]);
                fetch_box(&tile_b[stage * BN * BK], map_b, turn * BK, tile_column * BN, &full[stage]);
                arrive_expecting(&full[stage], (BM + BN) * BK * sizeof(bf16));
            }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    for (int stage = 0; stage < STAGES; ++stage)
        arrive(&empty[stage]);
    float sums[16][8] = {0.0f};
    for (int turn = 0, stage = 0; turn < k / BK; ++turn, ++stage) {
        if (stage == STAGES)
            stage = 0;
        arrive_and_wait(&full[stage]);
        multiply_all<1, BK>(sums, &tile_a[(stage * BM + (group - 1) * 64) * BK], &tile_b[stage * BN * BK]);
        arrive(&empty[stage]);
    }
    const int row = (group - 1) * 64 + thread / 32 * 16 + thread % 32 / 4;
    store_sums(sums, c + tile_column * BN * m + tile_row * BM, m, row, thread);
}

// Places of tiles along a Hilbert curve over a square of 2^order: each block's own, `turns` of them, as row << 16 | column.
__global__ void lay_curve(int *places, int order, int blocks, int turns)
{
    for (int place = 0; place < blocks * turns; ++place) {
        int row = 0, column = 0;
        for (int level = 0, rest = place; level < order; ++level, rest /= 4) {
            const int size = 1 << level, down = rest / 2 & 1, right = (rest ^ down) & 1;
            if (!right) {
                const int was = down ? size - 1 - row : row;
                row = down ? size - 1 - column : column;
                column = was;
            }
            row += size * down;
            column += size * right;
        }
        places[place % blocks * turns + place / blocks] = row << 16 | column;
    }
}

__device__ __forceinline__ void wait_for(Address *barrier, int parity)
{
    asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN; }"
                 ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}

// The same, but a block makes several tiles, one thread of a warp group arrives, and phases are told by their parity.
__global__ void __launch_bounds__(384)
    along_curve(int m, int n, int k, bf16 *c, const void *map_a, const void *map_b, const int *places, int turns)
{
    constexpr int BM = 128, BN = 256, BK = 64, STAGES = 3, MOST_TURNS = 128;
    extern __shared__ __align__(1024) bf16 tiles[];
    __shared__ Address full[STAGES], empty[STAGES];
    __shared__ int own[MOST_TURNS];
    bf16 *tile_a = tiles, *tile_b = tiles + STAGES * BM * BK;
    const int group = threadIdx.x / 128, thread = threadIdx.x % 128;
    if (threadIdx.x < turns)
        own[threadIdx.x] = places[blockIdx.x * turns + threadIdx.x];
    if (threadIdx.x == 0)
        for (int stage = 0; stage < STAGES; ++stage) {
            expect_arrivals(&full[stage], 1);
            expect_arrivals(&empty[stage], 2);
        }
    __syncthreads();

    int stage = 0, parity = 0;
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (thread == 0)
            for (int turn = 0; turn < turns; ++turn)
                for (int step = 0; step < k / BK; ++step, ++stage) {
                    if (stage == STAGES) {
                        stage = 0;
                        parity ^= 1;
                    }
                    wait_for(&empty[stage], parity);
                    arrive_expecting(&full[stage], (BM + BN) * BK * sizeof(bf16));
                    fetch_box(&tile_a[stage * BM * BK], map_a, step * BK, (own[turn] >> 16) * BM, &full[stage]);
                    fetch_box(&tile_b[stage * BN * BK], map_b, step * BK, (own[turn] & 0xffff) * BN, &full[stage]);
                }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    if (thread == 0)
        for (int each = 0; each < STAGES; ++each)
            arrive(&empty[each]);
    float sums[16][8];
    const int row = (group - 1) * 64 + thread / 32 * 16 + thread % 32 / 4;
    for (int turn = 0; turn < turns; ++turn) {
        if (stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
        wait_for(&full[stage], parity);
        multiply_all<0, BK>(sums, &tile_a[(stage * BM + (group - 1) * 64) * BK], &tile_b[stage * BN * BK]);
        if (thread == 0)
            arrive(&empty[stage]);
        ++stage;
        for (int step = 1; step < k / BK; ++step, ++stage) {
            if (stage == STAGES) {
                stage = 0;
                parity ^= 1;
            }
            wait_for(&full[stage], parity);
            multiply_all<1, BK>(sums, &tile_a[(stage * BM + (group - 1) * 64) * BK], &tile_b[stage * BN * BK]);
            if (thread == 0)
                arrive(&empty[stage]);
        }
        store_sums(sums, c + (own[turn] & 0xffff) * BN * m + (own[turn] >> 16) * BM, m, row, thread);
    }
}
