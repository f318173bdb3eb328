// y = A * x for a sparse matrix in CSR form whose rows have 1 to 63 elements.
//
// scalar_row: one thread per row: lanes read far apart and wait for the longest row of their warp.
// warp_row:   one warp per row: lanes read side by side and add up with shuffles.
//
// LAUNCH: make_matrix<<<16, 256>>>(4096, starts: i32[4097], columns: i32[65536], values: f32[65536])
// LAUNCH: scalar_row<<<16, 256>>>(4096, starts, columns, values, x: f32[4096]=random, y_scalar: f32[4096])
// LAUNCH: warp_row<<<512, 256>>>(4096, starts, columns, values, x, y_warp: f32[4096])

// Eight rows take 128 elements: 1 + 2 + 4 + 8 + 16 + 32 + 2 + 63.
__device__ int row_start(int row)
{
    const int before[8] = {0, 1, 3, 7, 15, 31, 63, 65};
    return row / 8 * 128 + before[row % 8];
}

__global__ void make_matrix(int rows, int *starts, int *columns, float *values)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    int first = row_start(row), end = row_start(row + 1);
    starts[row] = first;
    if (row == rows - 1)
        starts[rows] = end;
    for (int i = first; i < end; i++) {
        columns[i] = (i * 97 + row * 31) % rows;
        values[i] = 1.0f / (1 + i % 7);
    }
}

__global__ void scalar_row(int rows, const int *starts, const int *columns, const float *values, const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = starts[row]; i < starts[row + 1]; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

__global__ void warp_row(int rows, const int *starts, const int *columns, const float *values, const float *x, float *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32)
        sum += values[i] * x[columns[i]];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (lane == 0)
        y[row] = sum;
}
