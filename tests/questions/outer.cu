// C += A B, a tile of 8 x 8 a thread, straight from global memory: 64 sums and 16 operands live at once.
#ifndef BOUND
#define BOUND
#endif
// LAUNCH: outer<<<(2, 8), (16, 2)>>>(A: f32[64,128]=random, B: f32[64,256]=random, C: f32[128,256], 64, 128, 256)
__global__ void BOUND outer(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int depth, int m, int n)
{
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 8, column = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    float sums[8][8] = {};
    for (int k = 0; k < depth; k++) {
        float a[8], b[8];
        for (int i = 0; i < 8; i++) a[i] = A[k * m + row + i];
        for (int j = 0; j < 8; j++) b[j] = B[k * n + column + j];
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) sums[i][j] += a[i] * b[j];
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) C[(row + i) * n + column + j] = sums[i][j];
}
