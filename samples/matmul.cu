// C = A * B for square matrices of n x n, in three steps.
//
// naive:    one thread per element; every operand of every multiply-add comes from L1.
// tiled:    a block loads 16 x 16 tiles into shared memory and uses each value 16 times.
// blocked:  each thread computes 4 x 2 elements in registers, so a value read from shared memory is used 2 or 4 times.
//
// LAUNCH: naive<<<(20, 20), (16, 16)>>>(a: f32[320,320]=random, b: f32[320,320]=random, c: f32[320,320], 320)
// LAUNCH: tiled<<<(20, 20), (16, 16)>>>(a, b, c, 320)
// LAUNCH: blocked<<<(10, 10), (16, 8)>>>(a, b, c, 320)

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

constexpr int SIDE = 32; // elements of C per block and side
constexpr int DEPTH = 16; // elements of k per step
constexpr int DOWN = 4, ACROSS = 2; // elements of C per thread, of 16 x 8 threads

__global__ void blocked(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[DEPTH][SIDE + 1];
    __shared__ float bs[DEPTH][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int thread = ty * 16 + tx;
    int row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    float sum[DOWN][ACROSS] = {};

    for (int k0 = 0; k0 < n; k0 += DEPTH) {
        for (int each = 0; each < SIDE * DEPTH / (16 * 8); each++) {
            int i = each * 16 * 8 + thread;
            as[i % DEPTH][i / DEPTH] = a[(row0 + i / DEPTH) * n + k0 + i % DEPTH];
            bs[i / SIDE][i % SIDE] = b[(k0 + i / SIDE) * n + col0 + i % SIDE];
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < DEPTH; k++)
            for (int i = 0; i < DOWN; i++)
                for (int j = 0; j < ACROSS; j++)
                    sum[i][j] += as[k][ty + 8 * i] * bs[k][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < DOWN; i++)
        for (int j = 0; j < ACROSS; j++)
            c[(row0 + ty + 8 * i) * n + col0 + tx + 16 * j] = sum[i][j];
}
