// Attention of Hopper in the way of FlashAttention-3: a warp group copies by TMA, two multiply and take turns; the scores
// of one tile of keys are under way while the softmax of the tile before is done.
#include <cuda.h>
#include <cuda_fp16.h>

#include "warp_groups.h"

constexpr int D = 128, ROWS = 128, GROUPS = 2, STAGES = 2, HALF = 64; // a tensor map's box is 64 wide: 128 bytes

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void expect(uint64_t *barrier, unsigned nbytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(nbytes) : "memory");
}

__device__ void arrive(uint64_t *barrier) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory"); }

__device__ void wait(uint64_t *barrier, int parity)
{
    asm volatile("{ .reg .pred p;\nLOOP: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra LOOP; }" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

// A box of 64 columns and its rows, from `column` and `row` of a batch on.
__device__ void copy(half *to, const CUtensorMap *map, int column, int row, int batch, uint64_t *barrier)
{
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
        "l"(map), "r"(column), "r"(row), "r"(batch), "r"(shared_address(barrier))
        : "memory");
}

// Rows after the last of the batch are not written.
__device__ void copy_back(const CUtensorMap *map, const half *from, int column, int row, int batch)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(column), "r"(row), "r"(batch),
                 "r"(shared_address(from))
                 : "memory");
}

// Rows of 64 halves, swizzled by 128 bytes. `stride`: bytes from one 64 columns to the next.
__device__ uint64_t descriptor(const half *tile, unsigned stride)
{
    uint64_t start = shared_address(tile) >> 4 & 0x3fff;
    return start | uint64_t(stride >> 4 & 0x3fff) << 16 | uint64_t(1024 >> 4) << 32 | 1ull << 62;
}

__device__ void begin_multiplying() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ void wait_for_all_but() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
__device__ void my_turn(int group) { asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory"); }
__device__ void your_turn(int group) { asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory"); }

template <int KEYS> struct Shared {
    half q[2][ROWS * HALF], k[STAGES][2][KEYS * HALF], v[STAGES][2][KEYS * HALF];
    uint64_t q_full, q_empty, k_full[STAGES], k_empty[STAGES], v_full[STAGES], v_empty[STAGES];
};

// A place in the ring of stages.
struct Turn {
    int stage = 0, parity = 0;
    __device__ void next()
    {
        if (++stage == STAGES)
            stage = 0, parity ^= 1;
    }
};

// Halves of `to` are so many rows apart; 64 columns each.
__device__ void copy_tile(half *to, int rows, const CUtensorMap *map, int column, int row, int batch, uint64_t *full)
{
    expect(full, 2 * rows * HALF * sizeof(half));
    for (int i = 0; i < 2; i++)
        copy(to + i * rows * HALF, map, column + i * HALF, row, batch, full);
}

// scores = q * transpose(k), not waited for.
template <int KEYS> __device__ void score(float (&scores)[KEYS / 2], const Shared<KEYS> &shared, int group, int stage)
{
    begin_multiplying();
#pragma unroll
    for (int i = 0; i < D / 16; i++)
        multiply(scores, descriptor(shared.q[i / 4] + group * 64 * HALF + i % 4 * 16, 16), descriptor(shared.k[stage][i / 4] + i % 4 * 16, 16), i);
    commit();
}

// sums += p * v, not waited for.
template <int KEYS> __device__ void add_values(float (&sums)[D / 2], const unsigned (&p)[KEYS / 4], const Shared<KEYS> &shared, int stage)
{
    begin_multiplying();
#pragma unroll
    for (int i = 0; i < KEYS / 16; i++)
        multiply(sums, p + 4 * i, descriptor(shared.v[stage][0] + i * 16 * HALF, KEYS * HALF * sizeof(half)));
    commit();
}

// 2 to the power of x, as --use_fast_math has it.
__device__ float power(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// A thread has two rows, and of each 8 keys two.
template <int KEYS> struct Softmax {
    float highest[2] = {-INFINITY, -INFINITY}, total[2] = {0, 0};

    // Scores become exp2((score - highest) * scale); `factors` is what earlier sums are worth now.
    __device__ void take(float (&scores)[KEYS / 2], float scale, float (&factors)[2])
    {
#pragma unroll
        for (int row = 0; row < 2; row++) {
            float most = highest[row];
#pragma unroll
            for (int i = 0; i < KEYS / 8; i++)
                most = fmaxf(most, fmaxf(scores[4 * i + 2 * row], scores[4 * i + 2 * row + 1]));
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
            float shift = most == -INFINITY ? 0.0f : most * scale, sum = 0;
            factors[row] = power(highest[row] * scale - shift);
#pragma unroll
            for (int i = 0; i < KEYS / 8; i++)
#pragma unroll
                for (int e = 2 * row; e < 2 * row + 2; e++) {
                    scores[4 * i + e] = power(scores[4 * i + e] * scale - shift);
                    sum += scores[4 * i + e];
                }
            highest[row] = most;
            total[row] = total[row] * factors[row] + sum;
        }
    }

    // `factors` is what sums are to be multiplied by in the end.
    __device__ void finish(float (&factors)[2])
    {
#pragma unroll
        for (int row = 0; row < 2; row++) {
            float sum = total[row];
            sum += __shfl_xor_sync(~0u, sum, 1);
            sum += __shfl_xor_sync(~0u, sum, 2);
            factors[row] = 1 / sum;
        }
    }
};

template <int KEYS> __device__ void pack(unsigned (&p)[KEYS / 4], const float (&scores)[KEYS / 2])
{
#pragma unroll
    for (int i = 0; i < KEYS / 4; i++) {
        half2 pair = __floats2half2_rn(scores[2 * i], scores[2 * i + 1]);
        p[i] = *(unsigned *)&pair;
    }
}

__device__ void scale_rows(float (&sums)[D / 2], const float (&factors)[2])
{
#pragma unroll
    for (int i = 0; i < D / 2; i++)
        sums[i] *= factors[i / 2 % 2];
}

// Keys after the last one, and after the row's own where `CAUSAL`.
template <int KEYS, bool CAUSAL> __device__ void mask(float (&scores)[KEYS / 2], int first_key, int row, int n)
{
    if (first_key + KEYS <= n && (!CAUSAL || first_key + KEYS <= row - row % 64))
        return;
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++) {
        int key = first_key + i / 4 * 8 + lane % 4 * 2 + i % 2, own = row + i / 2 % 2 * 8;
        if (key >= n || CAUSAL && key > own)
            scores[i] = -INFINITY;
    }
}

// The tiles of 128 rows that a block does one after another: of all rows of a head, and the longest first where `CAUSAL`.
struct Tiles {
    int n, heads, batches;
    __device__ int of_head() const { return (n + ROWS - 1) / ROWS; }
    __device__ int number() const { return of_head() * heads * batches; }
};

template <int KEYS, bool CAUSAL> struct Tile {
    int row0, batch, column, steps; // its first row and column, tiles of keys
    __device__ Tile(const Tiles &all, int number)
    {
        int x = number % all.of_head(), head = number / all.of_head() % all.heads;
        batch = number / all.of_head() / all.heads;
        row0 = (CAUSAL ? all.of_head() - 1 - x : x) * ROWS;
        column = head * D;
        steps = ((CAUSAL ? min(all.n, row0 + ROWS) : all.n) + KEYS - 1) / KEYS;
    }
};

__device__ void start(uint64_t *barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

template <int KEYS> __device__ void start_barriers(Shared<KEYS> &shared)
{
    start(&shared.q_full, 1);
    start(&shared.q_empty, GROUPS);
    for (int i = 0; i < STAGES; i++) {
        start(&shared.k_full[i], 1);
        start(&shared.v_full[i], 1);
        start(&shared.k_empty[i], GROUPS);
        start(&shared.v_empty[i], GROUPS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
}

// One thread brings q, k and v of all tiles, as far ahead as there is room.
template <int KEYS, bool CAUSAL>
__device__ void copy_all(Shared<KEYS> &shared, const CUtensorMap *q, const CUtensorMap *k, const CUtensorMap *v, const Tiles &all)
{
    Turn turn;
    int parity = 0;
    for (int number = blockIdx.x; number < all.number(); number += gridDim.x, parity ^= 1) {
        Tile<KEYS, CAUSAL> tile(all, number);
        wait(&shared.q_empty, parity ^ 1);
        copy_tile(shared.q[0], ROWS, q, tile.column, tile.row0, tile.batch, &shared.q_full);
        for (int step = tile.steps - 1; step >= 0; step--, turn.next()) {
            int stage = turn.stage;
            wait(&shared.k_empty[stage], turn.parity ^ 1);
            copy_tile(shared.k[stage][0], KEYS, k, tile.column, step * KEYS, tile.batch, &shared.k_full[stage]);
            wait(&shared.v_empty[stage], turn.parity ^ 1);
            copy_tile(shared.v[stage][0], KEYS, v, tile.column, step * KEYS, tile.batch, &shared.v_full[stage]);
        }
    }
}

// Writes a group's rows of the result by way of the stage that held the last values, when both groups are through with it.
__device__ void put(const float (&sums)[D / 2], half *stage, int group, const CUtensorMap *out, int column, int row, int batch, uint64_t *empty)
{
    int lane = threadIdx.x % 32, own = group * 64 + threadIdx.x / 32 % 4 * 16 + lane / 4;
    asm volatile("bar.sync 3, 256;" ::: "memory");
#pragma unroll
    for (int i = 0; i < D / 2; i += 2) {
        int r = own + i / 2 % 2 * 8, chunk = i / 4 % 8 ^ r % 8;
        *(half2 *)&stage[(i / 32 * ROWS + r) * HALF + chunk * 8 + lane % 4 * 2] = __floats2half2_rn(sums[i], sums[i + 1]);
    }
    asm volatile("fence.proxy.async.shared::cta;\nbar.sync %0, 128;" ::"r"(4 + group) : "memory");
    if (threadIdx.x % 128 == 0) {
        for (int i = 0; i < 2; i++)
            copy_back(out, stage + (i * ROWS + group * 64) * HALF, column + i * HALF, row + group * 64, batch);
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
        arrive(empty);
    }
}

// q, k, v, out: heads * 128 halves in a row, n rows of a batch.
template <int KEYS, bool CAUSAL>
__global__ void __launch_bounds__(128 * (GROUPS + 1), 1)
    attention(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k, const __grid_constant__ CUtensorMap v,
              const __grid_constant__ CUtensorMap out, int n, int heads, int batches, float scale)
{
    extern __shared__ __align__(1024) char memory[];
    Shared<KEYS> &shared = *(Shared<KEYS> *)memory;
    Tiles all{n, heads, batches};
    if (threadIdx.x == 0)
        start_barriers(shared);
    __syncthreads();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x == 0)
            copy_all<KEYS, CAUSAL>(shared, &q, &k, &v, all);
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    int group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32, own = group * 64 + threadIdx.x / 32 % 4 * 16 + lane / 4;
    bool speaks = threadIdx.x % 128 == 0;
    Turn at_k, at_v;
    if (group == 1)
        your_turn(group);
    int parity = 0;
    for (int number = blockIdx.x; number < all.number(); number += gridDim.x, parity ^= 1) {
        Tile<KEYS, CAUSAL> tile(all, number);
        float sums[D / 2] = {}, factors[2];
        unsigned p[KEYS / 4];
        Softmax<KEYS> softmax;
        int row = tile.row0 + own;
        wait(&shared.q_full, parity);
        {
            float scores[KEYS / 2];
            wait(&shared.k_full[at_k.stage], at_k.parity);
            my_turn(group);
            score<KEYS>(scores, shared, group, at_k.stage);
            your_turn(group);
            wait_for_all_but<0>();
            if (speaks)
                arrive(&shared.k_empty[at_k.stage]);
            at_k.next();
            mask<KEYS, CAUSAL>(scores, (tile.steps - 1) * KEYS, row, n);
            softmax.take(scores, scale, factors);
            pack<KEYS>(p, scores);
        }
        for (int step = tile.steps - 2; step >= 0; step--) {
            float scores[KEYS / 2];
            wait(&shared.k_full[at_k.stage], at_k.parity);
            my_turn(group);
            score<KEYS>(scores, shared, group, at_k.stage);
            wait(&shared.v_full[at_v.stage], at_v.parity);
            add_values<KEYS>(sums, p, shared, at_v.stage);
            your_turn(group);
            wait_for_all_but<1>();
            if (speaks)
                arrive(&shared.k_empty[at_k.stage]);
            at_k.next();
            mask<KEYS, CAUSAL>(scores, step * KEYS, row, n);
            softmax.take(scores, scale, factors);
            wait_for_all_but<0>();
            if (speaks)
                arrive(&shared.v_empty[at_v.stage]);
            at_v.next();
            pack<KEYS>(p, scores);
            scale_rows(sums, factors);
        }
        if (speaks)
            arrive(&shared.q_empty);
        wait(&shared.v_full[at_v.stage], at_v.parity);
        add_values<KEYS>(sums, p, shared, at_v.stage);
        softmax.finish(factors);
        wait_for_all_but<0>();
        scale_rows(sums, factors);
        put(sums, shared.v[at_v.stage][0], group, &out, tile.column, tile.row0, tile.batch, &shared.v_empty[at_v.stage]);
        at_v.next();
    }
}
