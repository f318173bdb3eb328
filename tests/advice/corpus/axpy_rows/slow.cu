// out = a * x + y for columns of 16 rows; a thread does one column.
//
// LAUNCH: axpy<<<160, 128>>>(x: f32[16,20480]=random, y: f32[16,20480]=random, out: f32[16,20480], 0.5, 20480)

constexpr int ROWS = 16;

__global__ void axpy(const float *x, const float *y, float *out, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    #pragma unroll
    for (int k = 0; k < ROWS; k++)
        out[k * n + i] = a * x[k * n + i] + y[k * n + i];
}
