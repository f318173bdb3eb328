// y = alpha * A x + beta * y, for an A of rows x columns.

// LAUNCH: by_row_2d<<<(4, 4), (32, 32)>>>(A: f32[128,128]=random, x: f32[128]=random, y: f32[128]=ones, 128, 128, 1.0, 0.5)
__global__ void by_row_2d(float *A, float *x, float *y, int rows, int columns, float alpha, float beta)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    if (c < columns && r < rows) {
        for (int k = 0; k < columns; k++)
            sum += A[r * columns + k] * x[k];
        y[r] = alpha * sum + beta * y[r];
    }
}

// LAUNCH: by_row_1d<<<4, 32>>>(B: f32[128,128]=random, u: f32[128]=random, v: f32[128]=ones, 128, 128, 1.0, 0.5)
__global__ void by_row_1d(float *A, float *x, float *y, int rows, int columns, float alpha, float beta)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    if (r < rows) {
        for (int k = 0; k < columns; k++)
            sum += A[r * columns + k] * x[k];
        y[r] = alpha * sum + beta * y[r];
    }
}
