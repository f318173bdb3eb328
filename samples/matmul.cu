// C = A * B for square matrices of n x n, three times faster in three steps.
//
// naive:    one thread per element; every operand of every multiply-add comes from L1.
// tiled:    a block loads 16 x 16 tiles into shared memory and uses each value 16 times.
// blocked:  each thread computes 4 x 4 elements from registers, so a value read from shared memory is used 4 times.
//
// LAUNCH: naive<<<(16, 16), (16, 16)>>>(a: f32[256,256]=random, b: f32[256,256]=random, c: f32[256,256], 256)
// LAUNCH: tiled<<<(16, 16), (16, 16)>>>(a, b, c, 256)
// LAUNCH: blocked<<<(8, 8), (8, 8)>>>(a, b, c, 256)

__global__ void naive(const float *a, const float *b, float *c, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

constexpr int TILE = 16;

__global__ void tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        as[ty][tx] = a[row * n + k0 + tx];
        bs[ty][tx] = b[(k0 + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

constexpr int BLOCK = 32; // elements of C per block and side
constexpr int EACH = 4;   // elements of C per thread and side
constexpr int DEPTH = 8;  // elements of k per step

__global__ void blocked(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[DEPTH][BLOCK];
    __shared__ float bs[DEPTH][BLOCK];
    int tx = threadIdx.x, ty = threadIdx.y;
    int thread = ty * blockDim.x + tx;
    int row0 = blockIdx.y * BLOCK, col0 = blockIdx.x * BLOCK;
    float sum[EACH][EACH] = {};

    for (int k0 = 0; k0 < n; k0 += DEPTH) {
        for (int i = thread; i < BLOCK * DEPTH; i += blockDim.x * blockDim.y) {
            as[i % DEPTH][i / DEPTH] = a[(row0 + i / DEPTH) * n + k0 + i % DEPTH];
            bs[i / BLOCK][i % BLOCK] = b[(k0 + i / BLOCK) * n + col0 + i % BLOCK];
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) {
            float x[EACH], y[EACH];
            for (int i = 0; i < EACH; i++) {
                x[i] = as[k][ty * EACH + i];
                y[i] = bs[k][tx * EACH + i];
            }
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            c[(row0 + ty * EACH + i) * n + col0 + tx * EACH + j] = sum[i][j];
}
