// Products of matrices: an element a thread, a tile of 32 x 32, and 8 x 8 elements a thread.

__global__ void product_plain(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && column < n) {
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * b[k * n + column];
        c[row * n + column] = sum;
    }
}

__global__ void product_scaled(const float *a, const float *b, float *c, int n, float alpha, float beta)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && column < n) {
        float sum = 0;
#pragma unroll 16 // as in the report's machine code
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * b[k * n + column];
        c[row * n + column] = alpha * sum + beta * c[row * n + column];
    }
}

__global__ void product_flat(const float *a, const float *b, float *c, int m, int depth, int n, float alpha, float beta)
{
    const int row = blockIdx.x * 32 + threadIdx.x / 32, column = blockIdx.y * 32 + threadIdx.x % 32;
    if (row < m && column < n) {
        float sum = 0;
#pragma unroll 16
        for (int k = 0; k < depth; ++k)
            sum += a[row * depth + k] * b[k * n + column];
        c[row * n + column] = alpha * sum + beta * c[row * n + column];
    }
}

__global__ void product_tiled(float *a, float *b, float *c, int n)
{
    __shared__ float left[32][32], right[32][32];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 32 + ty, column = blockIdx.x * 32 + tx;
    float sum = 0;
    for (int t = 0; t < (n + 31) / 32; ++t) {
        if (row < n && t * 32 + tx < n)
            left[ty][tx] = a[row * n + t * 32 + tx];
        else
            left[ty][tx] = 0;
        if (column < n && t * 32 + ty < n)
            right[ty][tx] = b[(t * 32 + ty) * n + column];
        else
            right[ty][tx] = 0;
        __syncthreads();
        for (int k = 0; k < 32; ++k)
            sum += left[ty][k] * right[k][tx];
        __syncthreads();
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}

__device__ float4 &vector(float &first)
{
    return *reinterpret_cast<float4 *>(&first);
}

// 8 x 8 elements a thread, all operands from global memory.
__global__ void product_registers(float *__restrict__ a, float *__restrict__ b, float *__restrict__ c, const int m,
                                  const int n, const int depth)
{
    int row = 128 * blockIdx.y + 8 * threadIdx.y, column = 128 * blockIdx.x + 8 * threadIdx.x;
    float sum[8][8] = {};
    for (int k = 0; k < depth; k += 8) {
#pragma unroll
        for (int j = 0; j < 8; ++j)
#pragma unroll
            for (int y = 0; y < 8; ++y)
#pragma unroll
                for (int x = 0; x < 8; ++x)
                    sum[y][x] += a[(row + y) * depth + k + j] * b[(k + j) * n + column + x];
    }
#pragma unroll
    for (int y = 0; y < 8; ++y)
#pragma unroll
        for (int x = 0; x < 8; x += 4)
            vector(c[(row + y) * n + column + x]) = vector(sum[y][x]);
}

// 8 x 8 elements a thread, two tiles of 128 x 8 in shared memory, the next fragments and tile loaded ahead.
__global__ void product_buffered(float *__restrict__ a, float *__restrict__ b, float *__restrict__ c, const int m,
                                 const int n, const int depth)
{
    __shared__ float left[2][8][128], right[2][8][128];
    const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
    const int a_row = thread / 2, a_column = thread % 2 * 4, b_row = thread / 32, b_column = thread % 32 * 4;
    float sum[8][8] = {}, x[2][8], y[2][8], next_a[4], next_b[4];
    a += 128 * blockIdx.y * depth;
    b += 128 * blockIdx.x;
    vector(next_a[0]) = vector(a[a_row * depth + a_column]);
#pragma unroll
    for (int i = 0; i < 4; i++)
        left[0][a_column + i][a_row] = next_a[i];
    vector(right[0][b_row][b_column]) = vector(b[b_row * n + b_column]);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
        vector(y[0][i]) = vector(left[0][0][8 * ty + i]);
        vector(x[0][i]) = vector(right[0][0][8 * tx + i]);
    }
    int write = 1, k = 0;
    do {
        k += 8;
        if (k < depth) {
            vector(next_a[0]) = vector(a[a_row * depth + a_column + k]);
            vector(next_b[0]) = vector(b[(k + b_row) * n + b_column]);
        }
        int read = write ^ 1;
#pragma unroll
        for (int j = 0; j < 7; ++j) {
#pragma unroll
            for (int i = 0; i < 8; i += 4) {
                vector(y[(j + 1) % 2][i]) = vector(left[read][j + 1][8 * ty + i]);
                vector(x[(j + 1) % 2][i]) = vector(right[read][j + 1][8 * tx + i]);
            }
#pragma unroll
            for (int p = 0; p < 8; ++p)
#pragma unroll
                for (int q = 0; q < 8; ++q)
                    sum[p][q] += y[j % 2][p] * x[j % 2][q];
        }
        if (k < depth) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                left[write][a_column + i][a_row] = next_a[i];
            vector(right[write][b_row][b_column]) = vector(next_b[0]);
            __syncthreads();
            write ^= 1;
        }
#pragma unroll
        for (int i = 0; i < 8; i += 4) {
            vector(y[0][i]) = vector(left[read ^ 1][0][8 * ty + i]);
            vector(x[0][i]) = vector(right[read ^ 1][0][8 * tx + i]);
        }
#pragma unroll
        for (int p = 0; p < 8; ++p)
#pragma unroll
            for (int q = 0; q < 8; ++q)
                sum[p][q] += y[1][p] * x[1][q];
    } while (k < depth);
#pragma unroll
    for (int p = 0; p < 8; ++p)
#pragma unroll
        for (int q = 0; q < 8; q += 4)
            vector(c[(128 * blockIdx.y + 8 * ty + p) * n + 128 * blockIdx.x + 8 * tx + q]) = vector(sum[p][q]);
}
