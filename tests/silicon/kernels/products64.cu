// Products of row-major matrices as in products.cu, written for any size: indices of 64 bits, and each access to global
// memory checks its bounds.

typedef unsigned long long size;

__global__ void naive(size m, size n, size k, float alpha, const float *a, size lda, const float *b, size ldb,
                      float beta, float *c, size ldc)
{
    const size row = blockIdx.x * blockDim.x + threadIdx.x;
    const size column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (size i = 0; i < k; ++i)
            sum += a[row * lda + i] * b[i * ldb + column];
        c[row * ldc + column] = alpha * sum + beta * c[row * ldc + column];
    }
}

__global__ void coalesced(size m, size n, size k, float alpha, const float *a, size lda, const float *b, size ldb,
                          float beta, float *c, size ldc)
{
    const size column = blockIdx.x * blockDim.x + threadIdx.x;
    const size row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (size i = 0; i < k; ++i)
            sum += a[row * lda + i] * b[i * ldb + column];
        c[row * ldc + column] = alpha * sum + beta * c[row * ldc + column];
    }
}

struct Matrices {
    const float *a, *b;
    size lda, ldb, m, n, k;
};

// The block's tiles at step `step` along k, an element at a time; A's columns become rows where TRANSPOSED.
template <size BX, size BY, size BK, size THREADS, bool TRANSPOSED>
__device__ void load_elements(const Matrices &of, float *tile_a, float *tile_b, size step, size thread)
{
#pragma unroll
    for (size turn = 0; turn < BY * BK / THREADS; ++turn) {
        const size y = (thread + turn * THREADS) / BK, x = (thread + turn * THREADS) % BK;
        const size row = blockIdx.y * BY + y, column = step * BK + x;
        float value = 0.0f;
        if (row < of.m && column < of.k)
            value = of.a[row * of.lda + column];
        tile_a[TRANSPOSED ? x * BY + y : y * BK + x] = value;
    }
#pragma unroll
    for (size turn = 0; turn < BK * BX / THREADS; ++turn) {
        const size y = (thread + turn * THREADS) / BX, x = (thread + turn * THREADS) % BX;
        const size row = step * BK + y, column = blockIdx.x * BX + x;
        float value = 0.0f;
        if (row < of.k && column < of.n)
            value = of.b[row * of.ldb + column];
        tile_b[y * BX + x] = value;
    }
}

// The elements of `four` from `left` on are zero: the row ends there.
__device__ void cut(int4 &four, size column, size end)
{
    if (column + 4 > end)
        for (size i = 0; i < column + 4 - end; ++i)
            reinterpret_cast<float *>(&four)[3 - i] = 0.0f;
}

// The same, four elements at a time.
template <size BX, size BY, size BK, size THREADS, bool TRANSPOSED>
__device__ void load_fours(const Matrices &of, float *tile_a, float *tile_b, size step, size thread)
{
#pragma unroll
    for (size turn = 0; turn < (BY * BK / 4 + THREADS - 1) / THREADS; ++turn) {
        const size y = (thread + turn * THREADS) / (BK / 4), x = (thread + turn * THREADS) % (BK / 4) * 4;
        const size row = blockIdx.y * BY + y, column = step * BK + x;
        int4 four = {0, 0, 0, 0};
        if (row < of.m && column < of.k)
            four = *reinterpret_cast<const int4 *>(&of.a[row * of.lda + column]);
        cut(four, column, of.k);
        if (y < BY && x < BK) {
            if constexpr (TRANSPOSED)
                for (size i = 0; i < 4; ++i)
                    tile_a[(x + i) * BY + y] = reinterpret_cast<const float *>(&four)[i];
            else
                *reinterpret_cast<int4 *>(&tile_a[y * BK + x]) = four;
        }
    }
#pragma unroll
    for (size turn = 0; turn < (BK * BX / 4 + THREADS - 1) / THREADS; ++turn) {
        const size y = (thread + turn * THREADS) / (BX / 4), x = (thread + turn * THREADS) % (BX / 4) * 4;
        const size row = step * BK + y, column = blockIdx.x * BX + x;
        int4 four = {0, 0, 0, 0};
        if (row < of.k && column < of.n)
            four = *reinterpret_cast<const int4 *>(&of.b[row * of.ldb + column]);
        cut(four, column, of.n);
        if (y < BK && x < BX)
            *reinterpret_cast<int4 *>(&tile_b[y * BX + x]) = four;
    }
}

// An element a thread. FOURS: tiles are loaded four elements at a time, by a quarter of the threads.
template <size B, bool FOURS>
__global__ void tiled(size m, size n, size k, float alpha, const float *a, size lda, const float *b, size ldb,
                      float beta, float *c, size ldc)
{
    __shared__ float tile_a[B][B];
    __shared__ float tile_b[B][B];
    const Matrices of = {a, b, lda, ldb, m, n, k};
    const size thread = threadIdx.y * blockDim.x + threadIdx.x;
    const size column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (size step = 0; step < (k + B - 1) / B; ++step) {
        if constexpr (FOURS)
            load_fours<B, B, B, B * B, false>(of, tile_a[0], tile_b[0], step, thread);
        else
            load_elements<B, B, B, B * B, false>(of, tile_a[0], tile_b[0], step, thread);
        __syncthreads();
#pragma unroll
        for (size i = 0; i < B; ++i)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * ldc + column] = alpha * sum + beta * c[row * ldc + column];
}

// TY elements of a column a thread.
template <size BX, size BY, size BK, size TY>
__global__ void column_a_thread(size m, size n, size k, float alpha, const float *a, size lda, const float *b, size ldb,
                                float beta, float *c, size ldc)
{
    __shared__ float tile_a[BY][BK];
    __shared__ float tile_b[BK][BX];
    const Matrices of = {a, b, lda, ldb, m, n, k};
    const size thread = threadIdx.y * blockDim.x + threadIdx.x;
    float sums[TY] = {0.0f};
    for (size step = 0; step < (k + BK - 1) / BK; ++step) {
        load_elements<BX, BY, BK, BX * BY / TY, false>(of, tile_a[0], tile_b[0], step, thread);
        __syncthreads();
#pragma unroll
        for (size i = 0; i < BK; ++i) {
            const float of_b = tile_b[i][thread % BX];
#pragma unroll
            for (size r = 0; r < TY; ++r)
                sums[r] += tile_a[thread / BX * TY + r][i] * of_b;
        }
        __syncthreads();
    }
#pragma unroll
    for (size r = 0; r < TY; ++r) {
        const size row = blockIdx.y * BY + thread / BX * TY + r, column = blockIdx.x * BX + thread % BX;
        if (row < m && column < n)
            c[row * ldc + column] = alpha * sums[r] + beta * c[row * ldc + column];
    }
}

// Four elements of a row of C, whose sums are at `sums`.
__device__ void update(float *c, bool inside, float alpha, const float *sums, float beta)
{
    int4 four = *reinterpret_cast<const int4 *>(c);
    const int4 found = *reinterpret_cast<const int4 *>(sums);
    for (size i = 0; i < 4; ++i)
        reinterpret_cast<float *>(&four)[i] =
            alpha * reinterpret_cast<const float *>(&found)[i] + beta * reinterpret_cast<const float *>(&four)[i];
    if (inside)
        *reinterpret_cast<int4 *>(c) = four;
}

// TY x TX elements a thread. TRANSPOSED: of A, in shared memory. FOURS: fragments of B and elements of C four at a
// time, and with TRANSPOSED the loads from global memory as well.
template <size BX, size BY, size BK, size TX, size TY, bool TRANSPOSED, bool FOURS>
__global__ void square_a_thread(size m, size n, size k, float alpha, const float *a, size lda, const float *b, size ldb,
                                float beta, float *c, size ldc)
{
    constexpr size THREADS = BX * BY / (TX * TY);
    __shared__ float tile_a[BY * BK];
    __shared__ float tile_b[BK * BX];
    const Matrices of = {a, b, lda, ldb, m, n, k};
    const size thread = threadIdx.y * blockDim.x + threadIdx.x;
    const size y = thread / (BX / TX) * TY, x = thread % (BX / TX) * TX;
    float sums[TY][TX] = {0.0f};
    float of_a[TY] = {0.0f}, of_b[TX] = {0.0f};
    for (size step = 0; step < (k + BK - 1) / BK; ++step) {
        if constexpr (FOURS && TRANSPOSED)
            load_fours<BX, BY, BK, THREADS, TRANSPOSED>(of, tile_a, tile_b, step, thread);
        else
            load_elements<BX, BY, BK, THREADS, TRANSPOSED>(of, tile_a, tile_b, step, thread);
        __syncthreads();
#pragma unroll
        for (size i = 0; i < BK; ++i) {
#pragma unroll
            for (size r = 0; r < TY; ++r)
                of_a[r] = tile_a[TRANSPOSED ? i * BY + y + r : (y + r) * BK + i];
            if constexpr (FOURS) {
#pragma unroll
                for (size s = 0; s < TX; s += 4)
                    *reinterpret_cast<int4 *>(&of_b[s]) = *reinterpret_cast<const int4 *>(&tile_b[i * BX + x + s]);
            } else {
#pragma unroll
                for (size s = 0; s < TX; ++s)
                    of_b[s] = tile_b[i * BX + x + s];
            }
            for (size r = 0; r < TY; ++r)
                for (size s = 0; s < TX; ++s)
                    sums[r][s] += of_a[r] * of_b[s];
        }
        __syncthreads();
    }
    for (size r = 0; r < TY; ++r)
        for (size s = 0; s < TX; s += FOURS ? 4 : 1) {
            const size row = blockIdx.y * BY + y + r, column = blockIdx.x * BX + x + s;
            float *place = &c[row * ldc + column];
            if constexpr (FOURS)
                update(place, row < m && column < n, alpha, &sums[r][s], beta);
            else if (row < m && column < n)
                *place = alpha * sums[r][s] + beta * *place;
        }
}

// A WY x WX tile a warp, TY x TX elements a thread, everything four elements at a time.
template <size BX, size BY, size BK, size WX, size WY, size TX, size TY>
__global__ void warp_tiles(size m, size n, size k, float alpha, const float *a, size lda, const float *b, size ldb,
                           float beta, float *c, size ldc)
{
    constexpr size THREADS = BX * BY / (TX * TY), LANES_X = WX / TX;
    __shared__ float tile_a[BK][BY];
    __shared__ float tile_b[BK][BX];
    const Matrices of = {a, b, lda, ldb, m, n, k};
    const size thread = threadIdx.y * blockDim.x + threadIdx.x, warp = thread / 32, lane = thread % 32;
    const size y = warp / (BX / WX) * WY + lane / LANES_X * TY, x = warp % (BX / WX) * WX + lane % LANES_X * TX;
    float sums[TY][TX] = {0.0f};
    float of_a[TY] = {0.0f}, of_b[TX] = {0.0f};
    for (size step = 0; step < (k + BK - 1) / BK; ++step) {
        load_fours<BX, BY, BK, THREADS, true>(of, tile_a[0], tile_b[0], step, thread);
        __syncthreads();
#pragma unroll
        for (size i = 0; i < BK; ++i) {
#pragma unroll
            for (size r = 0; r < TY; r += 4)
                *reinterpret_cast<int4 *>(&of_a[r]) = *reinterpret_cast<const int4 *>(&tile_a[i][y + r]);
#pragma unroll
            for (size s = 0; s < TX; s += 4)
                *reinterpret_cast<int4 *>(&of_b[s]) = *reinterpret_cast<const int4 *>(&tile_b[i][x + s]);
#pragma unroll
            for (size r = 0; r < TY; ++r)
#pragma unroll
                for (size s = 0; s < TX; ++s)
                    sums[r][s] += of_a[r] * of_b[s];
        }
        __syncthreads();
    }
#pragma unroll
    for (size r = 0; r < TY; ++r)
#pragma unroll
        for (size s = 0; s < TX; s += 4) {
            const size row = blockIdx.y * BY + y + r, column = blockIdx.x * BX + x + s;
            update(&c[row * ldc + column], row < m && column < n, alpha, &sums[r][s], beta);
        }
}
