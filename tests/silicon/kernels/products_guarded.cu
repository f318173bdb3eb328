// Products of row-major matrices in single precision, C = A B, each access guarded by the matrices' bounds.

// An element a thread; the threads of a warp go along a row of C.
__global__ void by_elements(const float *a, const float *b, float *c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += a[row * k + i] * b[i * n + column];
        c[row * n + column] = sum;
    }
}

// An element a thread; tiles of A and B in shared memory, zeros outside the matrices.
__global__ void by_tiles(const float *a, const float *b, float *c, int m, int n, int k)
{
    constexpr int TILE = 32;
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int step = 0; step < (k + TILE - 1) / TILE; ++step) {
        const int of_a = step * TILE + x, of_b = step * TILE + y;
        tile_a[y][x] = row < m && of_a < k ? a[row * k + of_a] : 0.0f;
        tile_b[y][x] = column < n && of_b < k ? b[of_b * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}
