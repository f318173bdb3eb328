// y = A * x for a sparse matrix whose rows all have 32 elements, one row after another.
//
// LAUNCH: multiply<<<2560, 256>>>(values: f32[20480,32]=random, columns: u32[20480,32]=random, x: f32[256]=random, y: f32[20480])

constexpr int LENGTH = 32;

__global__ void multiply(const float *values, const unsigned *columns, const float *x, float *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, k = threadIdx.x % 32;
    float sum = values[row * LENGTH + k] * x[columns[row * LENGTH + k]];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (k == 0)
        y[row] = sum;
}
