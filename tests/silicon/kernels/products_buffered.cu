// Products of row-major matrices as in products.cu, in a ladder that ends with two buffers: signed indices throughout,
// loops marked to unroll.

#define FOUR(place) (reinterpret_cast<float4 *>(&(place))[0])

__global__ __launch_bounds__(1024) void coalesced(
    int m, int n, int k, float alpha, float *a, float *b, float beta, float *c)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += a[y * k + i] * b[i * n + x];
    c[y * n + x] = alpha * sum + beta * c[y * n + x];
}

template <int B>
__global__ void tiled(int m, int n, int k, float alpha, float *a, float *b, float beta, float *c)
{
    __shared__ float tile_a[B * B];
    __shared__ float tile_b[B * B];
    const int x = threadIdx.x % B, y = threadIdx.x / B, tile_column = blockIdx.x, tile_row = blockIdx.y;
    a = &a[tile_row * B * k];
    b = &b[tile_column * B];
    c = &c[tile_row * B * n + tile_column * B];
    float sum = 0.0f;
    for (int step = 0; step < k; step += B) {
        tile_a[y * B + x] = a[y * k + x];
        tile_b[y * B + x] = b[y * n + x];
        __syncthreads();
        a += B;
        b += B * n;
        for (int i = 0; i < B; i++)
            sum += tile_a[y * B + i] * tile_b[i * B + x];
        __syncthreads();
    }
    c[y * n + x] = alpha * sum + beta * c[y * n + x];
}

// The block's tiles, an element at a time, by THREADS threads.
template <int BM, int BN, int BK, int THREADS>
__device__ __forceinline__ void load_elements(float *tile_a, float *tile_b, float *a, float *b, int n, int k)
{
    const int a_row = threadIdx.x / BK, a_column = threadIdx.x % BK;
    const int b_row = threadIdx.x / BN, b_column = threadIdx.x % BN;
#pragma unroll
    for (int i = 0; i < BM; i += THREADS / BK)
        tile_a[(a_row + i) * BK + a_column] = a[(a_row + i) * k + a_column];
#pragma unroll
    for (int i = 0; i < BK; i += THREADS / BN)
        tile_b[(b_row + i) * BN + b_column] = b[(b_row + i) * n + b_column];
}

template <int BM, int BN, int BK, int TM>
__global__ void column_a_thread(int m, int n, int k, float alpha, float *a, float *b, float beta, float *c)
{
    __shared__ float tile_a[BM * BK];
    __shared__ float tile_b[BK * BN];
    const int x = threadIdx.x % BN, y = threadIdx.x / BN * TM, tile_column = blockIdx.x, tile_row = blockIdx.y;
    a = &a[tile_row * BM * k];
    b = &b[tile_column * BN];
    c = &c[tile_row * BM * n + tile_column * BN];
    float sums[TM + 1] = {0.0f};
#pragma unroll
    for (int step = 0; step < k; step += BK) {
        load_elements<BM, BN, BK, BM * BN / TM>(tile_a, tile_b, a, b, n, k);
        __syncthreads();
        a += BK;
        b += BK * n;
#pragma unroll
        for (int i = 0; i < BK; i++) {
            sums[TM] = tile_b[x + i * BN];
#pragma unroll
            for (int r = 0; r < TM; r++)
                sums[r] += tile_a[(y + r) * BK + i] * sums[TM];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < TM; r++)
        c[(y + r) * n + x] = alpha * sums[r] + beta * c[(y + r) * n + x];
}

// TM x TN elements a thread. FRAGMENTS: a step's elements of A and B are read into registers first.
template <int BM, int BN, int BK, int TM, int TN, bool FRAGMENTS>
__global__ void square_a_thread(int m, int n, int k, float alpha, float *a, float *b, float beta, float *c)
{
    __shared__ float tile_a[BM * BK];
    __shared__ float tile_b[BK * BN];
    const int x = threadIdx.x % (BN / TN) * TN, y = threadIdx.x / (BN / TN) * TM;
    const int tile_column = blockIdx.x, tile_row = blockIdx.y;
    a = &a[tile_row * BM * k];
    b = &b[tile_column * BN];
    c = &c[tile_row * BM * n + tile_column * BN];
    float sums[TM][TN] = {0.0f};
    float of_a[TM] = {0.0f}, of_b[TN] = {0.0f};
#pragma unroll
    for (int step = 0; step < k; step += BK) {
        load_elements<BM, BN, BK, BM / TM * (BN / TN)>(tile_a, tile_b, a, b, n, k);
        __syncthreads();
        a += BK;
        b += BK * n;
#pragma unroll
        for (int i = 0; i < BK; i++) {
            if constexpr (FRAGMENTS) {
#pragma unroll
                for (int r = 0; r < TM; r++)
                    of_a[r] = tile_a[(y + r) * BK + i];
#pragma unroll
                for (int s = 0; s < TN; s++)
                    of_b[s] = tile_b[x + s + i * BN];
            }
#pragma unroll
            for (int r = 0; r < TM; r++)
                for (int s = 0; s < TN; s++)
                    sums[r][s] += FRAGMENTS ? of_a[r] * of_b[s] : tile_a[(y + r) * BK + i] * tile_b[x + s + i * BN];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < TM; r++)
        for (int s = 0; s < TN; s++)
            c[(y + r) * n + x + s] = alpha * sums[r][s] + beta * c[(y + r) * n + x + s];
}

template <int TM, int TN>
__device__ __forceinline__ void store(float *c, int n, float alpha, float (&sums)[TM][TN], float beta)
{
#pragma unroll
    for (int r = 0; r < TM; r++)
#pragma unroll
        for (int s = 0; s < TN; s += 4) {
            float4 four = FOUR(c[r * n + s]);
            four.x = alpha * sums[r][s] + beta * four.x;
            four.y = alpha * sums[r][s + 1] + beta * four.y;
            four.z = alpha * sums[r][s + 2] + beta * four.z;
            four.w = alpha * sums[r][s + 3] + beta * four.w;
            FOUR(c[r * n + s]) = four;
        }
}

// Four elements of a row go down a column of a tile of `pitch` columns.
__device__ __forceinline__ void store_column(float *place, int pitch, const float *four)
{
    place[0] = four[0];
    place[pitch] = four[1];
    place[2 * pitch] = four[2];
    place[3 * pitch] = four[3];
}

// The fragments of one step.
template <int TM, int TN>
__device__ __forceinline__ void load_fragments(float *of_a, float *of_b, float *row_of_a, float *row_of_b)
{
#pragma unroll
    for (int r = 0; r < TM; r += 4)
        FOUR(of_a[r]) = FOUR(row_of_a[r]);
#pragma unroll
    for (int s = 0; s < TN; s += 4)
        FOUR(of_b[s]) = FOUR(row_of_b[s]);
}

template <int TM, int TN>
__device__ __forceinline__ void multiply(float (&sums)[TM][TN], const float *of_a, const float *of_b)
{
#pragma unroll
    for (int r = 0; r < TM; r++)
#pragma unroll
        for (int s = 0; s < TN; s++)
            sums[r][s] += of_a[r] * of_b[s];
}

// Four elements at a time; the tile of A is transposed.
template <int BM, int BN, int BK, int TM, int TN>
__global__ void wide_loads(int m, int n, int k, float alpha, float *a, float *b, float beta, float *c)
{
    constexpr int THREADS = BM / TM * (BN / TN), TURNS_A = BK * BM / THREADS / 4, TURNS_B = BK * BN / THREADS / 4;
    __shared__ float tile_a[BK * BM];
    __shared__ float tile_b[BK * BN];
    const int x = threadIdx.x % (BN / TN) * TN, y = threadIdx.x / (BN / TN) * TM;
    const int a_row = threadIdx.x / (BK / 4), a_column = threadIdx.x % (BK / 4) * 4;
    const int b_row = threadIdx.x / (BN / 4), b_column = threadIdx.x % (BN / 4) * 4;
    const int tile_column = blockIdx.x, tile_row = blockIdx.y;
    float sums[TM][TN] = {0.0f};
    float loaded[4 * TURNS_A] = {0.0f};
    float of_a[TM], of_b[TN];
    a = &a[tile_row * BM * k];
    b = &b[tile_column * BN];
    c = &c[tile_row * BM * n + tile_column * BN];
#pragma unroll
    for (int step = 0; step < k; step += BK) {
#pragma unroll
        for (int i = 0; i < BM; i += BM / TURNS_A) {
            float *four = &loaded[i / (BM / TURNS_A) * 4];
            FOUR(*four) = FOUR(a[(a_row + i) * k + a_column]);
            store_column(&tile_a[a_column * BM + i + a_row], BM, four);
        }
#pragma unroll
        for (int i = 0; i < BK; i += BK / TURNS_B)
            FOUR(tile_b[(b_row + i) * BN + b_column]) = FOUR(b[(b_row + i) * n + b_column]);
        __syncthreads();
        a += BK;
        b += BK * n;
#pragma unroll
        for (int i = 0; i < BK; i++) {
            load_fragments<TM, TN>(of_a, of_b, &tile_a[i * BM + y], &tile_b[i * BN + x]);
            multiply(sums, of_a, of_b);
        }
        __syncthreads();
    }
    store(&c[y * n + x], n, alpha, sums, beta);
}

// Two buffers of everything: while a step is computed, the next one's tiles are on their way from global memory, and
// the next row's fragments from shared memory.
template <int BM, int BN, int BK, int TM, int TN>
__global__ void two_buffers(int m, int n, int k, float alpha, float *a, float *b, float beta, float *c)
{
    constexpr int THREADS = BM / TM * (BN / TN), TURNS_A = BK * BM / THREADS / 4, TURNS_B = BK * BN / THREADS / 4;
    __shared__ float tile_a[2][BK * BM];
    __shared__ float tile_b[2][BK * BN];
    const int x = threadIdx.x % (BN / TN) * TN, y = threadIdx.x / (BN / TN) * TM;
    const int a_row = threadIdx.x / (BK / 4), a_column = threadIdx.x % (BK / 4) * 4;
    const int b_row = threadIdx.x / (BN / 4), b_column = threadIdx.x % (BN / 4) * 4;
    const int tile_column = blockIdx.x, tile_row = blockIdx.y;
    float sums[TM][TN] = {0.0f};
    float loaded_a[4 * TURNS_A] = {0.0f}, loaded_b[4 * TURNS_B] = {0.0f};
    float of_a[2][TM], of_b[2][TN];
    a = &a[tile_row * BM * k];
    b = &b[tile_column * BN];
    c = &c[tile_row * BM * n + tile_column * BN];

#pragma unroll
    for (int i = 0; i < BM; i += BM / TURNS_A) {
        float *four = &loaded_a[i / (BM / TURNS_A) * 4];
        FOUR(*four) = FOUR(a[(a_row + i) * k + a_column]);
        store_column(&tile_a[0][a_column * BM + i + a_row], BM, four);
    }
#pragma unroll
    for (int i = 0; i < BK; i += BK / TURNS_B)
        FOUR(tile_b[0][(b_row + i) * BN + b_column]) = FOUR(b[(b_row + i) * n + b_column]);
    __syncthreads();
    load_fragments<TM, TN>(of_a[0], of_b[0], &tile_a[0][y], &tile_b[0][x]);

    int written = 1, step = 0;
    do {
        step += BK;
        if (step < k) {
#pragma unroll
            for (int i = 0; i < BM; i += BM / TURNS_A)
                FOUR(loaded_a[i / (BM / TURNS_A) * 4]) = FOUR(a[(a_row + i) * k + step + a_column]);
#pragma unroll
            for (int i = 0; i < BK; i += BK / TURNS_B)
                FOUR(loaded_b[i / (BK / TURNS_B) * 4]) = FOUR(b[(step + b_row + i) * n + b_column]);
        }
        const int read = written ^ 1;
#pragma unroll
        for (int i = 0; i < BK - 1; i++) {
            load_fragments<TM, TN>(of_a[(i + 1) % 2], of_b[(i + 1) % 2], &tile_a[read][(i + 1) * BM + y],
                                   &tile_b[read][(i + 1) * BN + x]);
            multiply(sums, of_a[i % 2], of_b[i % 2]);
        }
        if (step < k) {
#pragma unroll
            for (int i = 0; i < BM; i += BM / TURNS_A)
                store_column(&tile_a[written][a_column * BM + i + a_row], BM, &loaded_a[i / (BM / TURNS_A) * 4]);
#pragma unroll
            for (int i = 0; i < BK; i += BK / TURNS_B)
                FOUR(tile_b[written][(b_row + i) * BN + b_column]) = FOUR(loaded_b[i / (BK / TURNS_B) * 4]);
            __syncthreads();
            load_fragments<TM, TN>(of_a[0], of_b[0], &tile_a[written][y], &tile_b[written][x]);
            written ^= 1;
        }
        multiply(sums, of_a[(BK - 1) % 2], of_b[(BK - 1) % 2]);
    } while (step < k);
    store(&c[y * n + x], n, alpha, sums, beta);
}
