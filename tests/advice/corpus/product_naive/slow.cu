// C = A * B for square matrices.
//
// LAUNCH: product<<<(12, 12), (16, 16)>>>(a: f32[192,192]=random, b: f32[192,192]=random, c: f32[192,192], 192)

__global__ void product(const float *a, const float *b, float *c, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
