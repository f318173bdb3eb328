// Attention by mma.sync in the way of FlashAttention-2: each of four warps has rows of q of its own, all keys of a tile, and
// the weights of its rows in registers. Tiles come to shared memory by asynchronous copies of 16 bytes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int THREADS = 128;

__device__ __forceinline__ unsigned shared_address(const void *place)
{
    return (unsigned)__cvta_generic_to_shared(place);
}

__device__ __forceinline__ void load_four(unsigned *into, unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3]) : "r"(from));
}

__device__ __forceinline__ void load_two(unsigned *into, unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(into[0]), "=r"(into[1]) : "r"(from));
}

__device__ __forceinline__ void load_four_transposed(unsigned *into, unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3]) : "r"(from));
}

__device__ __forceinline__ void load_two_transposed(unsigned *into, unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(into[0]), "=r"(into[1]) : "r"(from));
}

__device__ __forceinline__ void multiply(half, float *sums, const unsigned *a, const unsigned *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ void multiply(__nv_bfloat16, float *sums, const unsigned *a, const unsigned *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ unsigned packed(half, float low, float high)
{
    const half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const unsigned *>(&pair);
}

__device__ __forceinline__ unsigned packed(__nv_bfloat16, float low, float high)
{
    const __nv_bfloat162 pair = __float22bfloat162_rn({low, high});
    return *reinterpret_cast<const unsigned *>(&pair);
}

__device__ __forceinline__ float largest_of_four(float x)
{
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

__device__ __forceinline__ float sum_of_four(float x)
{
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}

// 2 to the power of x, as --use_fast_math has it.
__device__ __forceinline__ float power(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Bytes: the 16-byte chunks of a row of D are exchanged by row.
template <int D, bool EXCHANGED> __device__ __forceinline__ unsigned exchanged(unsigned place)
{
    return EXCHANGED ? place ^ place / (2 * D) % 8 << 4 : place;
}

// A tile of rows of D; they are `pitch` elements apart where they come from. A thread's rows are a multiple of 8 apart, so
// their chunks are exchanged alike.
template <int ROWS, int D, bool EXCHANGED, class T>
__device__ __forceinline__ void fetch(unsigned tile, const T *from, int pitch)
{
    const int first = threadIdx.x * 8;
    const unsigned place = exchanged<D, EXCHANGED>(tile + first * sizeof(T));
    from += first / D * pitch + first % D;
    for (int i = 0; i < ROWS * D / (THREADS * 8); ++i) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place + i * THREADS * 16), "l"(from));
        from += THREADS * 8 / D * pitch;
    }
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;"); }

// All but the last N groups of copies are there, those of every thread.
template <int N> __device__ __forceinline__ void wait_for_all_but()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N));
    __syncthreads();
}

template <class T, int M, int N, int K>
__device__ __forceinline__ void multiply_all(float (&sums)[M][N][4], const unsigned (&a)[M][K][4], const unsigned (&b)[N][K][2])
{
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j)
            for (int k = 0; k < K; ++k)
                multiply(T(), sums[i][j], a[i][k], b[j][k]);
}

// Scores of 16 x 8 keys two by two become the weights of 16 x 16 that the product with values takes.
template <class T, int M, int N>
__device__ __forceinline__ void pack(unsigned (&weights)[M][N / 2][4], const float (&scores)[M][N][4])
{
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j)
            for (int row = 0; row < 2; ++row)
                weights[i][j / 2][j % 2 * 2 + row] = packed(T(), scores[i][j][2 * row], scores[i][j][2 * row + 1]);
}

// FlashAttention-2 for heads of 64: 128 rows and 128 keys a tile, one stage of keys and one of values. A warp has rows
// 16 w and 64 + 16 w. Its largest scores and sums of weights:
struct Rows {
    float largest[4], total[4];
};

template <bool MASKED, bool FIRST>
__device__ __forceinline__ void weigh(float (&scores)[2][16][4], float (&sums)[2][8][4], Rows &rows, float scale)
{
    for (int r = 0; r < 4; ++r) {
        float most = FIRST ? scores[r / 2][0][r % 2 * 2] : rows.largest[r];
        for (int j = 0; j < 16; ++j)
            most = fmaxf(most, fmaxf(scores[r / 2][j][r % 2 * 2], scores[r / 2][j][r % 2 * 2 + 1]));
        most = largest_of_four(most);
        const float shift = MASKED && most == -INFINITY ? 0.0f : most * scale;
        const float factor = FIRST ? 0.0f : power(rows.largest[r] * scale - shift);
        if (!FIRST)
            for (int j = 0; j < 8; ++j)
                for (int e = 0; e < 2; ++e)
                    sums[r / 2][j][r % 2 * 2 + e] *= factor;
        float total = FIRST ? 0.0f : rows.total[r] * factor;
        for (int j = 0; j < 16; ++j)
            for (int e = 0; e < 2; ++e) {
                float &score = scores[r / 2][j][r % 2 * 2 + e];
                score = power(score * scale - shift);
                total += score;
            }
        rows.largest[r] = most;
        rows.total[r] = total;
    }
}

struct Tiles {
    unsigned q, k, v; // in shared memory
};

__device__ __forceinline__ void load_k_of_scores(unsigned (&a)[2][4], unsigned (&b)[16][2], const Tiles &tiles, int k)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned of_q = exchanged<64, true>(tiles.q + ((warp * 16 + lane % 16) * 64 + lane / 16 * 8) * 2);
    const unsigned of_k = exchanged<64, true>(tiles.k + ((lane % 8 + lane / 16 * 8) * 64 + lane % 16 / 8 * 8) * 2);
    for (int i = 0; i < 2; ++i)
        load_four(a[i], of_q + i * 64 * 64 * 2 ^ k * 32);
    for (int j = 0; j < 16; j += 2)
        load_four(b[j], of_k + j * 8 * 64 * 2 ^ k * 32);
}

__device__ __forceinline__ void load_k_of_values(unsigned (&b)[8][2], const Tiles &tiles, int k)
{
    const int lane = threadIdx.x % 32;
    const unsigned of_v = exchanged<64, true>(tiles.v + (lane % 16 * 64 + lane / 16 * 8) * 2);
    for (int j = 0; j < 8; j += 2)
        load_four_transposed(b[j], of_v + k * 16 * 64 * 2 ^ j * 16);
}

// Each step's operands are loaded before the step before is multiplied.
__device__ __forceinline__ void score(float (&scores)[2][16][4], const Tiles &tiles)
{
    unsigned a[2][2][4], b[2][16][2];
    load_k_of_scores(a[0], b[0], tiles, 0);
    for (int k = 0; k < 4; ++k) {
        if (k < 3)
            load_k_of_scores(a[(k + 1) % 2], b[(k + 1) % 2], tiles, k + 1);
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 16; ++j)
                multiply(half(), scores[i][j], a[k % 2][i], b[k % 2][j]);
    }
}

__device__ __forceinline__ void add_values(float (&sums)[2][8][4], const unsigned (&weights)[2][8][4], const Tiles &tiles)
{
    unsigned b[2][8][2];
    load_k_of_values(b[0], tiles, 0);
    for (int k = 0; k < 8; ++k) {
        if (k < 7)
            load_k_of_values(b[(k + 1) % 2], tiles, k + 1);
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 8; ++j)
                multiply(half(), sums[i][j], weights[i][k], b[k % 2][j]);
    }
}

__device__ __forceinline__ void mask(float (&scores)[2][16][4])
{
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 16; ++j)
            for (int e = 0; e < 4; ++e)
                if (j * 8 + threadIdx.x % 4 * 2 + e % 2 > row + i * 64 + e / 2 * 8)
                    scores[i][j][e] = -INFINITY;
}

// One tile of keys, the last one first. The values come while keys are multiplied, the next keys while values are.
template <bool MASKED, bool FIRST>
__device__ __forceinline__ void step(float (&sums)[2][8][4], Rows &rows, const Tiles &tiles, const half *k, const half *v, int number, int pitch, float scale)
{
    float scores[2][16][4] = {0.0f};
    wait_for_all_but<0>();
    fetch<128, 64, true>(tiles.v, v + number * 128 * pitch, pitch);
    commit();
    score(scores, tiles);
    if (MASKED)
        mask(scores);
    wait_for_all_but<0>();
    if (number > 0) {
        fetch<128, 64, true>(tiles.k, k + (number - 1) * 128 * pitch, pitch);
        commit();
    }
    weigh<MASKED, FIRST>(scores, sums, rows, scale);
    unsigned weights[2][8][4];
    pack<half>(weights, scores);
    add_values(sums, weights, tiles);
}

// A block (x, y, z) has 128 rows of batch y and head z. A row of all arrays has `heads` heads.
template <bool CAUSAL>
__global__ void __launch_bounds__(THREADS) second(const half *q, const half *k, const half *v, half *out, int n, int heads, float scale)
{
    extern __shared__ __align__(1024) half memory[];
    const Tiles tiles{shared_address(memory), shared_address(memory + 128 * 64), shared_address(memory + 2 * 128 * 64)};
    const int pitch = heads * 64, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t first = size_t(blockIdx.y) * n * pitch + blockIdx.z * 64;
    int number = CAUSAL ? blockIdx.x : n / 128 - 1;
    fetch<128, 64, true>(tiles.q, q + first + blockIdx.x * 128 * pitch, pitch);
    fetch<128, 64, true>(tiles.k, k + first + number * 128 * pitch, pitch);
    commit();
    float sums[2][8][4] = {0.0f};
    Rows rows;
    step<CAUSAL, true>(sums, rows, tiles, k + first, v + first, number, pitch, scale);
    for (--number; number >= 0; --number)
        step<false, false>(sums, rows, tiles, k + first, v + first, number, pitch, scale);
    for (int r = 0; r < 4; ++r) {
        const float factor = 1 / sum_of_four(rows.total[r]);
        const int row = r / 2 * 64 + warp * 16 + r % 2 * 8 + lane / 4;
        for (int j = 0; j < 8; ++j) {
            const float *two = &sums[r / 2][j][r % 2 * 2];
            const unsigned place = row * 64 * 2 + (j ^ row % 8) * 16 + lane % 4 * 4;
            *reinterpret_cast<unsigned *>(reinterpret_cast<char *>(memory) + place) = packed(half(), two[0] * factor, two[1] * factor);
        }
    }
    __syncthreads();
    for (int i = 0; i < 8; ++i) {
        const int row = i * 16 + threadIdx.x / 8, chunk = threadIdx.x % 8;
        *reinterpret_cast<uint4 *>(out + first + (blockIdx.x * 128 + row) * pitch + chunk * 8) =
            *reinterpret_cast<const uint4 *>(memory + row * 64 + (chunk ^ row % 8) * 8);
    }
}

// Heads of 128 in bfloat16. How tiles come: keys, then values, each waited for; both a step ahead, chunks exchanged; keys
// a step ahead and values half a step, with four matrices an ldmatrix.
enum Way { IN_ORDER, AHEAD, KEYS_AHEAD };

typedef __nv_bfloat16 bf16;
constexpr int WIDTH = 128;

// All of a tile's keys or values, before they are multiplied.
template <int KEYS, Way WAY> __device__ __forceinline__ void load_keys(unsigned (&into)[KEYS / 8][WIDTH / 16][2], unsigned tile)
{
    const int lane = threadIdx.x % 32;
    const unsigned from = exchanged<WIDTH, WAY != IN_ORDER>(tile + (lane % 8 * WIDTH + lane / 8 % (WAY == KEYS_AHEAD ? 4 : 2) * 8) * 2);
    for (int j = 0; j < KEYS / 8; ++j)
        for (int k = 0; k < WIDTH / 16; k += WAY == KEYS_AHEAD ? 2 : 1) {
            const unsigned place = from + j * 8 * WIDTH * 2 ^ k * 32;
            if (WAY == KEYS_AHEAD)
                load_four(into[j][k], place);
            else
                load_two(into[j][k], place);
        }
}

template <int KEYS, Way WAY> __device__ __forceinline__ void load_values(unsigned (&into)[WIDTH / 8][KEYS / 16][2], unsigned tile)
{
    const int lane = threadIdx.x % 32;
    const unsigned from = exchanged<WIDTH, WAY != IN_ORDER>(tile + (lane % 16 * WIDTH + (WAY == KEYS_AHEAD ? lane / 16 * 8 : 0)) * 2);
    for (int k = 0; k < KEYS / 16; ++k)
        for (int j = 0; j < WIDTH / 8; j += WAY == KEYS_AHEAD ? 2 : 1) {
            const unsigned place = from + k * 16 * WIDTH * 2 ^ j * 16;
            if (WAY == KEYS_AHEAD) {
                unsigned four[4];
                load_four_transposed(four, place);
                for (int e = 0; e < 4; ++e)
                    into[j + e / 2][k][e % 2] = four[e];
            } else {
                load_two_transposed(into[j][k], place);
            }
        }
}

// Scores of M x 16 rows become weights; what earlier sums are worth is multiplied in.
template <int M, int N>
__device__ __forceinline__ void weigh(float (&scores)[M][N][4], float (&sums)[M][WIDTH / 8][4], float (&largest)[M][2], float (&total)[M][2])
{
    const float scale = rsqrtf(float(WIDTH));
    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j)
            for (int e = 0; e < 4; ++e)
                scores[i][j][e] *= scale;
        for (int row = 0; row < 2; ++row) {
            float most = -INFINITY;
            for (int j = 0; j < N; ++j)
                most = fmaxf(most, fmaxf(scores[i][j][2 * row], scores[i][j][2 * row + 1]));
            most = fmaxf(largest_of_four(most), largest[i][row]);
            const float factor = __expf(largest[i][row] - most);
            for (int j = 0; j < WIDTH / 8; ++j)
                for (int e = 0; e < 2; ++e)
                    sums[i][j][2 * row + e] *= factor;
            float sum = 0.0f;
            for (int j = 0; j < N; ++j)
                for (int e = 0; e < 2; ++e) {
                    float &score = scores[i][j][2 * row + e];
                    score = __expf(score - most);
                    sum += score;
                }
            largest[i][row] = most;
            total[i][row] = total[i][row] * factor + sum_of_four(sum);
        }
    }
}

// Copies of keys and values into shared memory: where the tile of a step lies, and when it is fetched.
template <int KEYS, Way WAY> struct Feed {
    static constexpr int TILE = KEYS * WIDTH; // elements
    unsigned memory;
    const bf16 *k, *v;
    int steps;

    __device__ unsigned of_keys(int step) const
    {
        return memory + (WAY == IN_ORDER ? 0 : step % 2 * TILE * (WAY == AHEAD ? 2 : 1)) * sizeof(bf16);
    }
    __device__ unsigned of_values(int step) const
    {
        return memory + (WAY == KEYS_AHEAD ? 2 * TILE : WAY == AHEAD ? (step % 2 * 2 + 1) * TILE : TILE) * sizeof(bf16);
    }
    __device__ void fetch_keys(int step) const
    {
        if (step < steps)
            fetch<KEYS, WIDTH, WAY != IN_ORDER>(of_keys(step), k + step * TILE, WIDTH);
        commit();
    }
    __device__ void fetch_values(int step) const
    {
        if (step < steps)
            fetch<KEYS, WIDTH, WAY != IN_ORDER>(of_values(step), v + step * TILE, WIDTH);
        commit();
    }
    __device__ void start() const
    {
        if (WAY != IN_ORDER)
            fetch_keys(0);
        if (WAY == AHEAD)
            fetch_values(0);
    }
    __device__ void before_scores(int step) const
    {
        if (WAY == KEYS_AHEAD) {
            __syncthreads(); // all are through with the values before, which have one place
            fetch_values(step);
        } else {
            fetch_keys(WAY == AHEAD ? step + 1 : step);
        }
        wait_for_all_but < WAY == IN_ORDER ? 0 : WAY == AHEAD ? 2 : 1 > ();
    }
    __device__ void after_scores(int step) const
    {
        if (WAY == AHEAD)
            fetch_values(step + 1);
        if (WAY == KEYS_AHEAD)
            fetch_keys(step + 1);
    }
    __device__ void before_values(int step) const
    {
        if (WAY == IN_ORDER)
            fetch_values(step);
        wait_for_all_but < WAY == IN_ORDER ? 0 : WAY == AHEAD ? 2 : 1 > ();
    }
};

// q and out are heads x queries x 128, k and v heads x keys x 128; a block has `ROWS` queries.
template <int ROWS, int KEYS, Way WAY>
__global__ void __launch_bounds__(THREADS) attend(const bf16 *q, const bf16 *k, const bf16 *v, bf16 *out, int queries, int keys)
{
    constexpr int M = ROWS / 64, N = KEYS / 8; // tiles of 16 x 8 of a warp's scores
    extern __shared__ __align__(1024) bf16 places[];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, head = blockIdx.x / (queries / ROWS);
    q += size_t(blockIdx.x) * ROWS * WIDTH;
    out += size_t(blockIdx.x) * ROWS * WIDTH;
    const Feed<KEYS, WAY> feed{shared_address(places), k + size_t(head) * keys * WIDTH, v + size_t(head) * keys * WIDTH, keys / KEYS};

    fetch<ROWS, WIDTH, WAY != IN_ORDER>(feed.memory, q, WIDTH);
    commit();
    wait_for_all_but<0>();
    unsigned rows_of_q[M][WIDTH / 16][4];
    const unsigned of_q = exchanged<WIDTH, WAY != IN_ORDER>(feed.memory + ((warp * M * 16 + lane % 16) * WIDTH + lane / 16 * 8) * 2);
    for (int i = 0; i < M; ++i)
        for (int k = 0; k < WIDTH / 16; ++k)
            load_four(rows_of_q[i][k], of_q + i * 16 * WIDTH * 2 ^ k * 32);
    __syncthreads(); // keys come to the same place

    float sums[M][WIDTH / 8][4] = {0.0f}, largest[M][2], total[M][2] = {0.0f};
    for (int i = 0; i < M; ++i)
        largest[i][0] = largest[i][1] = -INFINITY;
    feed.start();
    for (int step = 0; step < feed.steps; ++step) {
        float scores[M][N][4] = {0.0f};
        unsigned of_keys[N][WIDTH / 16][2], of_values[WIDTH / 8][KEYS / 16][2], weights[M][N / 2][4];
        feed.before_scores(step);
        load_keys<KEYS, WAY>(of_keys, feed.of_keys(step));
        multiply_all<bf16>(scores, rows_of_q, of_keys);
        feed.after_scores(step);
        weigh(scores, sums, largest, total);
        pack<bf16>(weights, scores);
        feed.before_values(step);
        load_values<KEYS, WAY>(of_values, feed.of_values(step));
        multiply_all<bf16>(sums, weights, of_values);
    }
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < WIDTH / 8; ++j)
            for (int row = 0; row < 2; ++row) {
                const int place = (warp * M * 16 + i * 16 + row * 8 + lane / 4) * WIDTH + j * 8 + lane % 4 * 2;
                *reinterpret_cast<unsigned *>(out + place) =
                    packed(bf16(), sums[i][j][2 * row] / total[i][row], sums[i][j][2 * row + 1] / total[i][row]);
            }
}
