// Dense linear algebra: register tiles of several shapes, f32 and f64.
template <int TM, int TN> __device__ void tile(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[16][TM * 16 + 1], bs[16][TN * 16 + 1];
    float acc[TM][TN] = {};
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TM * 16, col = blockIdx.x * TN * 16;
    for (int k0 = 0; k0 < n; k0 += 16) {
        for (int i = 0; i < TM; i++) as[tx][ty + 16 * i] = a[(row + ty + 16 * i) * n + k0 + tx];
        for (int j = 0; j < TN; j++) bs[ty][tx + 16 * j] = b[(k0 + ty) * n + col + tx + 16 * j];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float x[TM], y[TN];
            for (int i = 0; i < TM; i++) x[i] = as[k][ty + 16 * i];
            for (int j = 0; j < TN; j++) y[j] = bs[k][tx + 16 * j];
            for (int i = 0; i < TM; i++) for (int j = 0; j < TN; j++) acc[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; i++) for (int j = 0; j < TN; j++) c[(row + ty + 16 * i) * n + col + tx + 16 * j] = acc[i][j];
}
__global__ void gemm_1x1(const float *a, const float *b, float *c, int n) { tile<1, 1>(a, b, c, n); }
__global__ void gemm_2x2(const float *a, const float *b, float *c, int n) { tile<2, 2>(a, b, c, n); }
__global__ void gemm_4x4(const float *a, const float *b, float *c, int n) { tile<4, 4>(a, b, c, n); }
__global__ void gemm_8x8(const float *a, const float *b, float *c, int n) { tile<8, 8>(a, b, c, n); }

__global__ void dgemm_4x2(const double *a, const double *b, double *c, int n)
{
    double acc[4][2] = {};
    int row = 4 * (blockIdx.y * blockDim.y + threadIdx.y), col = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 4; i++) for (int j = 0; j < 2; j++) acc[i][j] += a[(row + i) * n + k] * b[k * n + col + j];
    for (int i = 0; i < 4; i++) for (int j = 0; j < 2; j++) c[(row + i) * n + col + j] = acc[i][j];
}

__global__ void gemv(const float *__restrict__ a, const float *__restrict__ x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += 32) sum += a[row * cols + i] * x[i];
    for (int o = 16; o; o >>= 1) sum += __shfl_down_sync(~0u, sum, o);
    if (threadIdx.x == 0 && row < rows) y[row] = sum;
}

__global__ void lu_small(double *m, int count)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count) return;
    double a[4][4];
#pragma unroll
    for (int i = 0; i < 16; i++) a[i / 4][i % 4] = m[i * count + id];
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int i = k + 1; i < 4; i++) {
            a[i][k] /= a[k][k];
#pragma unroll
            for (int j = k + 1; j < 4; j++) a[i][j] -= a[i][k] * a[k][j];
        }
#pragma unroll
    for (int i = 0; i < 16; i++) m[i * count + id] = a[i / 4][i % 4];
}
