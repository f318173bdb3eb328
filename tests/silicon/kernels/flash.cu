// Attention of Hopper in the way of FlashAttention-3: a warp group copies by TMA, two or three multiply and take turns;
// the scores of one tile of keys are under way while the softmax of the tile before is done.
#include <cuda.h>
#include <cuda_fp16.h>

#include "warp_groups.h"

constexpr int STAGES = 2, HALF = 64; // a tensor map's box is 64 wide: 128 bytes

// What Dao-AILab/flash-attention:hopper/tile_size.h has for heads of D: rows of a tile, 64 for each group that multiplies;
// whether weights go through shared memory; registers by hopper/flash_fwd_kernel_sm90.h.
template <int WIDTH, int N_KEYS, bool MASKED> struct Form {
    static constexpr int D = WIDTH, KEYS = N_KEYS, GROUPS = D == 64 ? 3 : 2, ROWS = 64 * GROUPS, CONSUMERS = 128 * GROUPS;
    static constexpr bool CAUSAL = MASKED, WEIGHTS_SHARED = D == 64 && !CAUSAL;
    static constexpr int COPYING_REGISTERS = GROUPS == 3 ? 32 : 24, MULTIPLYING_REGISTERS = GROUPS == 3 ? 160 : 240;
};

// Named barriers: 1 to 3 are the groups' turns, 4 to 6 the rows of each group's result.
constexpr int VALUES_READ = 7, NEXT_TAKEN = 8, NEXT_KNOWN = 9;

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
__device__ void arrive(int barrier, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }
__device__ void meet(int barrier, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory"); }
__device__ void my_turn(int group) { meet(1 + group, 256); }
template <class F> __device__ void your_turn(int group) { arrive(1 + (group + 1) % F::GROUPS, 256); }

template <class F> struct Shared {
    half q[F::D / HALF][F::ROWS * HALF], k[STAGES][F::D / HALF][F::KEYS * HALF], v[STAGES][F::D / HALF][F::KEYS * HALF];
    half weights[F::WEIGHTS_SHARED ? F::ROWS * F::KEYS : 4];
    uint64_t q_full, q_empty, result_gone, k_full[STAGES], k_empty[STAGES], v_full[STAGES], v_empty[STAGES];
    int next; // tile
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
template <int D> __device__ void copy_tile(half *to, int rows, const CUtensorMap *map, int column, int row, int batch, uint64_t *full)
{
    expect(full, D * rows * sizeof(half));
    for (int i = 0; i < D / HALF; i++)
        copy(to + i * rows * HALF, map, column + i * HALF, row, batch, full);
}

// What a descriptor has more for so many halves on: the units of its start are 16 bytes.
__device__ constexpr uint64_t further(int halves) { return halves * sizeof(half) >> 4; }

// The same value, of which nothing is computed before the loop: what follows from it would take all registers.
template <class T> __device__ T here(T value)
{
    if constexpr (sizeof(T) == 8)
        asm volatile("" : "+l"(value));
    else
        asm volatile("" : "+r"(value));
    return value;
}

// scores = q * transpose(k), not waited for.
template <class F> __device__ __forceinline__ void score(float (&scores)[F::KEYS / 2], const Shared<F> &shared, int group, int stage)
{
    uint64_t q = here(descriptor(shared.q[0] + group * 64 * HALF, 16)), k = descriptor(shared.k[stage][0], 16);
    begin_multiplying();
#pragma unroll
    for (int i = 0; i < F::D / 16; i++)
        multiply(scores, q + further(i / 4 * F::ROWS * HALF + i % 4 * 16), k + further(i / 4 * F::KEYS * HALF + i % 4 * 16), i);
    commit();
}

// sums += p * v, not waited for.
template <class F>
__device__ __forceinline__ void add_values(float (&sums)[F::D / 2], const unsigned (&p)[F::KEYS / 4], const Shared<F> &shared, int group, int stage)
{
    uint64_t weights = here(descriptor(shared.weights + group * 64 * HALF, 16));
    uint64_t v = descriptor(shared.v[stage][0], F::KEYS * HALF * sizeof(half));
    begin_multiplying();
#pragma unroll
    for (int i = 0; i < F::KEYS / 16; i++) {
        if constexpr (F::WEIGHTS_SHARED)
            multiply(sums, weights + further(i / 4 * F::ROWS * HALF + i % 4 * 16), v + further(i * 16 * HALF));
        else
            multiply(sums, p + 4 * i, v + further(i * 16 * HALF));
    }
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
    __device__ __forceinline__ void take(float (&scores)[KEYS / 2], float scale, float (&factors)[2])
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

__device__ unsigned packed(float low, float high)
{
    half2 pair = __floats2half2_rn(low, high);
    return *(unsigned *)&pair;
}

// A warp's 16 rows of a tile of `ROWS`, whose 64 columns each are swizzled by 128 bytes.
template <int ROWS, int N> __device__ __forceinline__ void put(half *tile, const float (&values)[N])
{
    int lane = here(threadIdx.x % 32), row = (threadIdx.x / 32 - 4) * 16 + lane % 16;
#pragma unroll
    for (int i = 0; i < N / 8; i++) {
        half *place = tile + (i / 4 * ROWS + row) * HALF + ((i % 4 * 2 + lane / 16) ^ row % 8) * 8;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(place)), "r"(packed(values[8 * i], values[8 * i + 1])),
                     "r"(packed(values[8 * i + 2], values[8 * i + 3])), "r"(packed(values[8 * i + 4], values[8 * i + 5])),
                     "r"(packed(values[8 * i + 6], values[8 * i + 7]))
                     : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Weights become what the next `add_values` multiplies. In shared memory, a warp's rows are read for itself only.
template <class F> __device__ __forceinline__ void keep_weights(unsigned (&p)[F::KEYS / 4], const float (&weights)[F::KEYS / 2], Shared<F> &shared)
{
    if constexpr (F::WEIGHTS_SHARED) {
        put<F::ROWS>(shared.weights, weights);
        __syncwarp();
    } else {
#pragma unroll
        for (int i = 0; i < F::KEYS / 4; i++)
            p[i] = packed(weights[2 * i], weights[2 * i + 1]);
    }
}

template <int N> __device__ void scale_rows(float (&sums)[N], const float (&factors)[2])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        sums[i] *= factors[i / 2 % 2];
}

// Keys after the last one, and after the row's own where `CAUSAL`.
template <class F> __device__ __forceinline__ void mask(float (&scores)[F::KEYS / 2], int first_key, int row, int n)
{
    if (first_key + F::KEYS <= n && (!F::CAUSAL || first_key + F::KEYS <= row - row % 64))
        return;
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < F::KEYS / 2; i++) {
        int key = first_key + i / 4 * 8 + lane % 4 * 2 + i % 2, own = row + i / 2 % 2 * 8;
        if (key >= n || F::CAUSAL && key > own)
            scores[i] = -INFINITY;
    }
}

// The tiles of all heads, which blocks do one after another. Where `CAUSAL`, the longest of a section of heads come first;
// as many heads are a section as have their keys and values in the L2 together.
struct Tiles {
    int rows, keys, heads, batches, section;
};

template <class F> __device__ int tiles_of_head(const Tiles &all) { return (all.rows + F::ROWS - 1) / F::ROWS; }
template <class F> __device__ int number_of(const Tiles &all) { return tiles_of_head<F>(all) * all.heads * all.batches; }

template <class F> struct Tile {
    int row0, batch, column, steps; // its first row and column, tiles of keys
    __device__ Tile(const Tiles &all, int number)
    {
        int of_head = tiles_of_head<F>(all), x = number % of_head, head = number / of_head;
        if (F::CAUSAL) {
            int first = number / (all.section * of_head) * all.section, heads = min(all.section, all.heads * all.batches - first);
            int place = number - first * of_head;
            x = of_head - 1 - place / heads;
            head = first + place % heads;
        }
        batch = head / all.heads;
        row0 = x * F::ROWS;
        column = head % all.heads * F::D;
        steps = ((F::CAUSAL ? min(all.keys, row0 + F::ROWS) : all.keys) + F::KEYS - 1) / F::KEYS;
    }
};

__device__ void start(uint64_t *barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

template <class F> __device__ void start_barriers(Shared<F> &shared)
{
    start(&shared.q_full, 1);
    start(&shared.q_empty, F::GROUPS);
    start(&shared.result_gone, F::GROUPS);
    for (int i = 0; i < STAGES; i++) {
        start(&shared.k_full[i], 1);
        start(&shared.v_full[i], 1);
        start(&shared.k_empty[i], F::GROUPS);
        start(&shared.v_empty[i], F::GROUPS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
}

// What brings q, k and v of a tile, as far ahead as there is room: keys are a step ahead of values.
template <class F> struct Copier {
    Shared<F> &shared;
    const CUtensorMap *q, *k, *v;
    Turn turn;

    __device__ void keys(const Tile<F> &tile, int step)
    {
        wait(&shared.k_empty[turn.stage], turn.parity ^ 1);
        copy_tile<F::D>(shared.k[turn.stage][0], F::KEYS, k, tile.column, step * F::KEYS, tile.batch, &shared.k_full[turn.stage]);
    }

    __device__ void values(const Tile<F> &tile, int step, const Turn &at)
    {
        wait(&shared.v_empty[at.stage], at.parity ^ 1);
        copy_tile<F::D>(shared.v[at.stage][0], F::KEYS, v, tile.column, step * F::KEYS, tile.batch, &shared.v_full[at.stage]);
    }

    // All but the values of the last step. The result of the tile before lies where values come.
    __device__ void most_of(const Tile<F> &tile, int parity)
    {
        keys(tile, tile.steps - 1);
        wait(&shared.q_empty, parity ^ 1);
        copy_tile<F::D>(shared.q[0], F::ROWS, q, tile.column, tile.row0, tile.batch, &shared.q_full);
        wait(&shared.result_gone, parity ^ 1);
        for (int step = tile.steps - 1; step > 0; step--) {
            Turn before = turn;
            turn.next();
            keys(tile, step - 1);
            values(tile, step, before);
        }
    }

    __device__ void last_values(const Tile<F> &tile)
    {
        values(tile, 0, turn);
        turn.next();
    }
};

// Where `CAUSAL`, a free block takes the next tile; else each has every gridDim.x-th.
template <class F> __device__ void copy_all(Copier<F> copier, const Tiles &all, int *taken)
{
    int lane = threadIdx.x % 32, parity = 0;
    for (int number = blockIdx.x; number < number_of<F>(all); parity ^= 1) {
        int next = number + gridDim.x;
        if (lane == 0) {
            Tile<F> tile(all, number);
            copier.most_of(tile, parity);
            if (F::CAUSAL)
                next = atomicAdd(taken, 1) + gridDim.x;
            copier.last_values(tile);
        }
        if (F::CAUSAL) {
            next = __shfl_sync(~0u, next, 0);
            meet(NEXT_TAKEN, F::CONSUMERS + 32);
            if (lane == 0)
                copier.shared.next = next;
            arrive(NEXT_KNOWN, F::CONSUMERS + 32);
        }
        number = next;
    }
}

template <class F> __device__ int next_of(Shared<F> &shared, int number)
{
    if (!F::CAUSAL)
        return number + gridDim.x;
    meet(NEXT_KNOWN, F::CONSUMERS + 32);
    number = shared.next;
    arrive(NEXT_TAKEN, F::CONSUMERS + 32);
    return number;
}

// Writes a group's rows of the result by way of the place of values, when all groups are through with them.
template <class F> __device__ __forceinline__ void put_result(const float (&sums)[F::D / 2], Shared<F> &shared, int group, const CUtensorMap *out, const Tile<F> &tile)
{
    half *place = shared.v[0][0];
    meet(VALUES_READ, F::CONSUMERS);
    put<F::ROWS>(place, sums);
    meet(4 + group, 128);
    if (threadIdx.x % 128 == 0) {
        for (int i = 0; i < F::D / HALF; i++)
            copy_back(out, place + (i * F::ROWS + group * 64) * HALF, tile.column + i * HALF, tile.row0 + group * 64, tile.batch);
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
        arrive(&shared.result_gone);
    }
}

// What a group does with a tile of rows.
template <class F> struct Multiplier {
    Shared<F> &shared;
    int group;
    float scale;
    Turn turn;

    __device__ void free(uint64_t *barrier)
    {
        if (threadIdx.x % 128 == 0)
            arrive(barrier);
    }

    __device__ __forceinline__ void attend(float (&sums)[F::D / 2], const Tile<F> &tile, int keys, int parity)
    {
        float factors[2];
        unsigned p[F::KEYS / 4];
        Softmax<F::KEYS> softmax;
        int row = tile.row0 + (threadIdx.x / 32 - 4) * 16 + threadIdx.x % 32 / 4;
        wait(&shared.q_full, parity);
        {
            float scores[F::KEYS / 2];
            wait(&shared.k_full[turn.stage], turn.parity);
            score<F>(scores, shared, group, turn.stage);
            wait_for_all_but<0>();
            free(&shared.k_empty[turn.stage]);
            mask<F>(scores, (tile.steps - 1) * F::KEYS, row, keys);
            softmax.take(scores, scale, factors);
            keep_weights<F>(p, scores, shared);
        }
        for (int step = tile.steps - 2; step >= 0; step--) {
            float scores[F::KEYS / 2];
            Turn before = turn;
            turn.next();
            if (group == 0) // the turns of the others come after it
                wait(&shared.k_full[turn.stage], turn.parity);
            my_turn(group);
            score<F>(scores, shared, group, turn.stage);
            if (group == 0)
                wait(&shared.v_full[before.stage], before.parity);
            add_values<F>(sums, p, shared, group, before.stage);
            your_turn<F>(group);
            wait_for_all_but<1>();
            free(&shared.k_empty[turn.stage]);
            mask<F>(scores, step * F::KEYS, row, keys);
            softmax.take(scores, scale, factors);
            wait_for_all_but<0>();
            free(&shared.v_empty[before.stage]);
            keep_weights<F>(p, scores, shared);
            scale_rows(sums, factors);
        }
        free(&shared.q_empty);
        wait(&shared.v_full[turn.stage], turn.parity);
        add_values<F>(sums, p, shared, group, turn.stage);
        softmax.finish(factors);
        wait_for_all_but<0>();
        free(&shared.v_empty[turn.stage]);
        turn.next();
        scale_rows(sums, factors);
    }
};

// q and out have heads * D halves in a row, and `rows` of them a batch; k and v `keys`. `taken` is 0 at the start.
template <int D, int KEYS, bool CAUSAL>
__global__ void __launch_bounds__(Form<D, KEYS, CAUSAL>::CONSUMERS + 128, 1)
    attention(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k, const __grid_constant__ CUtensorMap v,
              const __grid_constant__ CUtensorMap out, int rows, int keys, int heads, int batches, float scale, int section, int *taken)
{
    using F = Form<D, KEYS, CAUSAL>;
    extern __shared__ __align__(1024) char memory[];
    Shared<F> &shared = *(Shared<F> *)memory;
    Tiles all{rows, keys, heads, batches, section};
    if (threadIdx.x == 0)
        start_barriers(shared);
    __syncthreads();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(F::COPYING_REGISTERS));
        if (threadIdx.x < 32)
            copy_all(Copier<F>{shared, &q, &k, &v}, all, taken);
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(F::MULTIPLYING_REGISTERS));
    int group = threadIdx.x / 128 - 1, parity = 0;
    Multiplier<F> multiplier{shared, group, scale};
    if (group == F::GROUPS - 1)
        your_turn<F>(group);
    if (CAUSAL)
        arrive(NEXT_TAKEN, F::CONSUMERS + 32);
    for (int number = blockIdx.x; number < number_of<F>(all); number = next_of(shared, number), parity ^= 1) {
        Tile<F> tile(all, number);
        float sums[D / 2] = {};
        multiplier.attend(sums, tile, keys, parity);
        put_result<F>(sums, shared, group, &out, tile);
    }
}
