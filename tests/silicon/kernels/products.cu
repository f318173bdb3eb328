// Products of row-major matrices in single precision, C = alpha * A * B + beta * C, as ladders of tuning publish them:
// each kernel goes one step further than the one before. A is m x k, B is k x n, C is m x n.

typedef unsigned int uint;

// An element a thread; the threads of a warp go down a column of C.
__global__ void naive(int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c)
{
    const uint row = blockIdx.x * blockDim.x + threadIdx.x;
    const uint column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += a[row * k + i] * b[i * n + column];
        c[row * n + column] = alpha * sum + beta * c[row * n + column];
    }
}

// An element a thread; the threads of a warp go along a row of C.
template <uint TILE>
__global__ void coalesced(int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c)
{
    const int row = blockIdx.x * TILE + threadIdx.x / TILE;
    const int column = blockIdx.y * TILE + threadIdx.x % TILE;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += a[row * k + i] * b[i * n + column];
        c[row * n + column] = alpha * sum + beta * c[row * n + column];
    }
}

// An element a thread; square tiles of A and B in shared memory.
template <int TILE>
__global__ void tiled(int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c)
{
    __shared__ float tile_a[TILE * TILE];
    __shared__ float tile_b[TILE * TILE];
    const uint x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    const uint tile_row = blockIdx.x, tile_column = blockIdx.y;
    a += tile_row * TILE * k;
    b += tile_column * TILE;
    c += tile_row * TILE * n + tile_column * TILE;

    float sum = 0.0f;
    for (int step = 0; step < k; step += TILE) {
        tile_a[y * TILE + x] = a[y * k + x];
        tile_b[y * TILE + x] = b[y * n + x];
        __syncthreads();
        a += TILE;
        b += TILE * n;
        for (int i = 0; i < TILE; ++i)
            sum += tile_a[y * TILE + i] * tile_b[i * TILE + x];
        __syncthreads();
    }
    c[y * n + x] = alpha * sum + beta * c[y * n + x];
}

// TM elements of a column a thread.
template <int BM, int BN, int BK, int TM>
__global__ void column_a_thread(int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c)
{
    __shared__ float tile_a[BM * BK];
    __shared__ float tile_b[BK * BN];
    const int x = threadIdx.x % BN, y = threadIdx.x / BN;
    const uint a_column = threadIdx.x % BK, a_row = threadIdx.x / BK;
    const uint b_column = threadIdx.x % BN, b_row = threadIdx.x / BN;
    const uint tile_row = blockIdx.y, tile_column = blockIdx.x;
    a += tile_row * BM * k;
    b += tile_column * BN;
    c += tile_row * BM * n + tile_column * BN;

    float sums[TM] = {0.0f};
    for (uint step = 0; step < k; step += BK) {
        tile_a[a_row * BK + a_column] = a[a_row * k + a_column];
        tile_b[b_row * BN + b_column] = b[b_row * n + b_column];
        __syncthreads();
        a += BK;
        b += BK * n;
        for (uint i = 0; i < BK; ++i) {
            const float of_b = tile_b[i * BN + x];
            for (uint r = 0; r < TM; ++r)
                sums[r] += tile_a[(y * TM + r) * BK + i] * of_b;
        }
        __syncthreads();
    }
    for (uint r = 0; r < TM; ++r)
        c[(y * TM + r) * n + x] = alpha * sums[r] + beta * c[(y * TM + r) * n + x];
}

// TM x TN elements a thread; scalar loads.
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM * BN / (TM * TN), 1)
    square_a_thread(int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c)
{
    __shared__ float tile_a[BM * BK];
    __shared__ float tile_b[BK * BN];
    constexpr uint THREADS = BM * BN / (TM * TN);
    constexpr uint ROWS_OF_A = THREADS / BK, ROWS_OF_B = THREADS / BN;  // that all threads load at once
    const int x = threadIdx.x % (BN / TN), y = threadIdx.x / (BN / TN);
    const uint a_row = threadIdx.x / BK, a_column = threadIdx.x % BK;
    const uint b_row = threadIdx.x / BN, b_column = threadIdx.x % BN;
    const uint tile_row = blockIdx.y, tile_column = blockIdx.x;
    a += tile_row * BM * k;
    b += tile_column * BN;
    c += tile_row * BM * n + tile_column * BN;

    float sums[TM * TN] = {0.0f};
    float of_a[TM] = {0.0f}, of_b[TN] = {0.0f};
    for (uint step = 0; step < k; step += BK) {
        for (uint row = 0; row < BM; row += ROWS_OF_A)
            tile_a[(a_row + row) * BK + a_column] = a[(a_row + row) * k + a_column];
        for (uint row = 0; row < BK; row += ROWS_OF_B)
            tile_b[(b_row + row) * BN + b_column] = b[(b_row + row) * n + b_column];
        __syncthreads();
        a += BK;
        b += BK * n;
        for (uint i = 0; i < BK; ++i) {
            for (uint r = 0; r < TM; ++r)
                of_a[r] = tile_a[(y * TM + r) * BK + i];
            for (uint s = 0; s < TN; ++s)
                of_b[s] = tile_b[i * BN + x * TN + s];
            for (uint r = 0; r < TM; ++r)
                for (uint s = 0; s < TN; ++s)
                    sums[r * TN + s] += of_a[r] * of_b[s];
        }
        __syncthreads();
    }
    for (uint r = 0; r < TM; ++r)
        for (uint s = 0; s < TN; ++s) {
            const uint place = (y * TM + r) * n + x * TN + s;
            c[place] = alpha * sums[r * TN + s] + beta * c[place];
        }
}

// Four elements of a row of C at `place`.
__device__ __forceinline__ void update(float *place, float alpha, const float *sums, float beta)
{
    float4 four = reinterpret_cast<float4 *>(place)[0];
    four.x = alpha * sums[0] + beta * four.x;
    four.y = alpha * sums[1] + beta * four.y;
    four.z = alpha * sums[2] + beta * four.z;
    four.w = alpha * sums[3] + beta * four.w;
    reinterpret_cast<float4 *>(place)[0] = four;
}

// Four elements of a row go down a column.
__device__ __forceinline__ void store_column(float *place, uint pitch, float4 four)
{
    place[0 * pitch] = four.x;
    place[1 * pitch] = four.y;
    place[2 * pitch] = four.z;
    place[3 * pitch] = four.w;
}

// How the tile of B lies in shared memory: by rows; each element of a thread in a row of its own; rows with a pad.
enum Layout { ROWS, BY_ELEMENT, PADDED };

// TM x TN elements a thread; loads of 16 bytes, the tile of A is transposed.
template <int BM, int BN, int BK, int TM, int TN, Layout LAYOUT>
__device__ __forceinline__ void wide(int n, int k, float alpha, float *a, float *b, float beta, float *c)
{
    constexpr uint PITCH = LAYOUT == PADDED ? BN + 5 : BN;
    __shared__ float tile_a[BM * BK];
    __shared__ float tile_b[BK * PITCH];
    const int x = threadIdx.x % (BN / TN), y = threadIdx.x / (BN / TN);
    const uint a_row = threadIdx.x / (BK / 4), a_column = threadIdx.x % (BK / 4);
    const uint b_row = threadIdx.x / (BN / 4), b_column = threadIdx.x % (BN / 4);
    const uint tile_row = blockIdx.y, tile_column = blockIdx.x;
    a += tile_row * BM * k;
    b += tile_column * BN;
    c += tile_row * BM * n + tile_column * BN;

    float sums[TM * TN] = {0.0f};
    float of_a[TM] = {0.0f}, of_b[TN] = {0.0f};
    for (uint step = 0; step < k; step += BK) {
        float4 four = reinterpret_cast<float4 *>(&a[a_row * k + a_column * 4])[0];
        store_column(&tile_a[a_column * 4 * BM + a_row], BM, four);
        four = reinterpret_cast<float4 *>(&b[b_row * n + b_column * 4])[0];
        if constexpr (LAYOUT == ROWS)
            reinterpret_cast<float4 *>(&tile_b[b_row * BN + b_column * 4])[0] = four;
        else if constexpr (LAYOUT == BY_ELEMENT)
            store_column(&tile_b[(b_column % 2 * 4 + b_row * 8) * 16 + b_column / 2], 16, four);
        else
            store_column(&tile_b[b_row * PITCH + b_column * 4], 1, four);
        __syncthreads();
        a += BK;
        b += BK * n;
        for (uint i = 0; i < BK; ++i) {
            for (uint r = 0; r < TM; ++r)
                of_a[r] = tile_a[i * BM + y * TM + r];
            for (uint s = 0; s < TN; ++s)
                of_b[s] = LAYOUT == BY_ELEMENT ? tile_b[(i * 8 + s) * 16 + x] : tile_b[i * PITCH + x * TN + s];
            for (uint r = 0; r < TM; ++r)
                for (uint s = 0; s < TN; ++s)
                    sums[r * TN + s] += of_a[r] * of_b[s];
        }
        __syncthreads();
    }
    for (uint r = 0; r < TM; ++r)
        for (uint s = 0; s < TN; s += 4)
            update(&c[(y * TM + r) * n + x * TN + s], alpha, &sums[r * TN + s], beta);
}

template <int BM, int BN, int BK, int TM, int TN>
__global__ void wide_loads(int m, int n, int k, float alpha, float *a, float *b, float beta, float *c)
{
    wide<BM, BN, BK, TM, TN, ROWS>(n, k, alpha, a, b, beta, c);
}

template <int BM, int BN, int BK, int TM, int TN>
__global__ void by_element(int m, int n, int k, float alpha, float *a, float *b, float beta, float *c)
{
    wide<BM, BN, BK, TM, TN, BY_ELEMENT>(n, k, alpha, a, b, beta, c);
}

template <int BM, int BN, int BK, int TM, int TN>
__global__ void padded(int m, int n, int k, float alpha, float *a, float *b, float beta, float *c)
{
    wide<BM, BN, BK, TM, TN, PADDED>(n, k, alpha, a, b, beta, c);
}

// The tiles of one step, in loads of 16 bytes: all threads load ROWS_OF_A rows of A and ROWS_OF_B rows of B at once.
template <int BM, int BN, int BK, int ROWS_OF_A, int ROWS_OF_B>
__device__ __forceinline__ void load_tiles(
    int n, int k, float *a, float *b, float *tile_a, float *tile_b, uint a_row, uint a_column, uint b_row, uint b_column)
{
    for (uint row = 0; row + ROWS_OF_A <= BM; row += ROWS_OF_A) {
        const float4 four = reinterpret_cast<float4 *>(&a[(a_row + row) * k + a_column * 4])[0];
        store_column(&tile_a[a_column * 4 * BM + a_row + row], BM, four);
    }
    for (uint row = 0; row + ROWS_OF_B <= BK; row += ROWS_OF_B)
        reinterpret_cast<float4 *>(&tile_b[(b_row + row) * BN + b_column * 4])[0] =
            reinterpret_cast<float4 *>(&b[(b_row + row) * n + b_column * 4])[0];
}

// Tiles of 16 TM x 16 TN by 256 threads, as often as the block's tile needs them.
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(256)
    autotuned(int m, int n, int k, float alpha, float *a, float *b, float beta, float *c)
{
    __shared__ float tile_a[BM * BK];
    __shared__ float tile_b[BK * BN];
    constexpr int THREADS = 256, WM = TM * 16, WN = TN * 16;
    constexpr int STEPS_M = (BM + WM - 1) / WM, STEPS_N = (BN + WN - 1) / WN;
    const int x = threadIdx.x % (WN / TN), y = threadIdx.x / (WN / TN);
    const uint a_row = threadIdx.x / (BK / 4), a_column = threadIdx.x % (BK / 4);
    const uint b_row = threadIdx.x / (BN / 4), b_column = threadIdx.x % (BN / 4);
    const uint tile_row = blockIdx.y, tile_column = blockIdx.x;
    a += tile_row * BM * k;
    b += tile_column * BN;
    c += tile_row * BM * n + tile_column * BN;

    float sums[STEPS_M * STEPS_N * TM * TN] = {0.0f};
    float of_a[TM] = {0.0f}, of_b[TN] = {0.0f};
    for (uint step = 0; step < k; step += BK) {
        load_tiles<BM, BN, BK, THREADS * 4 / BK, THREADS / (BN / 4)>(
            n, k, a, b, tile_a, tile_b, a_row, a_column, b_row, b_column);
        __syncthreads();
        for (uint wm = 0; wm < STEPS_M; ++wm)
            for (uint wn = 0; wn < STEPS_N; ++wn)
                for (uint i = 0; i < BK; ++i) {
                    for (uint r = 0; r < TM; ++r)
                        of_a[r] = tile_a[i * BM + wm * WM + y * TM + r];
                    for (uint s = 0; s < TN; ++s)
                        of_b[s] = tile_b[i * BN + wn * WN + x * TN + s];
                    for (uint r = 0; r < TM; ++r)
                        for (uint s = 0; s < TN; ++s)
                            sums[(wm * TM + r) * (STEPS_N * TN) + wn * TN + s] += of_a[r] * of_b[s];
                }
        __syncthreads();
        a += BK;
        b += BK * n;
    }
    for (uint wm = 0; wm < STEPS_M; ++wm)
        for (uint wn = 0; wn < STEPS_N; ++wn) {
            float *corner = c + wm * WM * n + wn * WN;
            for (uint r = 0; r < TM; ++r)
                for (uint s = 0; s < TN; s += 4)
                    update(&corner[(y * TM + r) * n + x * TN + s], alpha,
                           &sums[(wm * TM + r) * (STEPS_N * TN) + wn * TN + s], beta);
        }
}

// A WM x WN tile a warp, in STEPS_N steps along a row.
template <int BM, int BN, int BK, int WM, int WN, int STEPS_N, int TM, int TN, int THREADS>
__global__ void __launch_bounds__(THREADS)
    warp_tiles(int m, int n, int k, float alpha, float *a, float *b, float beta, float *c)
{
    __shared__ float tile_a[BM * BK];
    __shared__ float tile_b[BK * BN];
    constexpr uint STEPS_M = WM * WN / (32 * TM * TN * STEPS_N);
    constexpr uint SUB_M = WM / STEPS_M, SUB_N = WN / STEPS_N;
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
    float of_a[STEPS_M * TM] = {0.0f}, of_b[STEPS_N * TN] = {0.0f};
    for (uint step = 0; step < k; step += BK) {
        load_tiles<BM, BN, BK, THREADS * 4 / BK, THREADS / (BN / 4)>(
            n, k, a, b, tile_a, tile_b, a_row, a_column, b_row, b_column);
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
                                of_a[wm * TM + r] * of_b[wn * TN + s];
        }
        a += BK;
        b += BK * n;
        __syncthreads();
    }
    for (uint wm = 0; wm < STEPS_M; ++wm)
        for (uint wn = 0; wn < STEPS_N; ++wn) {
            float *corner = c + wm * SUB_M * n + wn * SUB_N;
            for (uint r = 0; r < TM; ++r)
                for (uint s = 0; s < TN; s += 4)
                    update(&corner[(y * TM + r) * n + x * TN + s], alpha,
                           &sums[(wm * TM + r) * (STEPS_N * TN) + wn * TN + s], beta);
        }
}
