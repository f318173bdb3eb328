// C = A * B for square matrices, through 16 x 16 tiles in shared memory.
//
// LAUNCH: product<<<(16, 16), (16, 4)>>>(a: f32[256,256]=random, b: f32[256,256]=random, c: f32[256,256], 256)

constexpr int TILE = 16;

__global__ void product(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    int row = blockIdx.y * TILE + ty;
    float sum[4] = {};
    for (int k0 = 0; k0 < n; k0 += TILE) {
        for (int i = 0; i < 4; i++) {
            as[ty + 4 * i][tx] = a[(row + 4 * i) * n + k0 + tx];
            bs[ty + 4 * i][tx] = b[(k0 + ty + 4 * i) * n + col];
        }
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            for (int i = 0; i < 4; i++)
                sum[i] += as[ty + 4 * i][k] * bs[k][tx];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        c[(row + 4 * i) * n + col] = sum[i];
}
