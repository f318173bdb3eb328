// y = A * x for a sparse matrix whose rows all have 32 elements, one row after another.
//
// LAUNCH: multiply<<<80, 256>>>(values: f32[20480,32]=random, columns: u32[20480,32]=random, x: f32[256]=random, y: f32[20480])

constexpr int LENGTH = 32;

__global__ void multiply(const float *values, const unsigned *columns, const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < LENGTH; k++)
        sum += values[row * LENGTH + k] * x[columns[row * LENGTH + k]];
    y[row] = sum;
}
