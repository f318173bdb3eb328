// For each row of a lower triangle the sum of the values in it, weighted by their distance from the diagonal. A block
// does a strip of rows, each warp one row at a time.
//
// LAUNCH: triangle<<<40, 256>>>(values: i32[2560]=random, sums: i32[2560], 64)

constexpr int WARPS = 8;

__device__ int row_sum(const int *values, int row)
{
    int sum = 0;
    for (int j = threadIdx.x % 32; j <= row; j += 32)
        sum += (row - j) * values[j];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    return sum;
}

__global__ void triangle(const int *values, int *sums, int strip)
{
    for (int k = threadIdx.x / 32; k < strip; k += WARPS) {
        int row = blockIdx.x * strip + k;
        int sum = row_sum(values, row);
        if (threadIdx.x % 32 == 0)
            sums[row] = sum;
    }
}
