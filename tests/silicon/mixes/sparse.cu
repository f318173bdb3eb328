// A sparse matrix in compressed rows times a vector: a row by a thread, and by a warp.

__global__ void rows_by_threads(const int *first, const int *column, const float *value, const float *x, float *y,
                                int n_rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n_rows) {
        float sum = 0;
        int from = first[row], to = first[row + 1];
        for (int i = from; i < to; i++)
            sum += value[i] * x[column[i]];
        y[row] = sum;
    }
}

__global__ void rows_in_shared(const int *first, const int *column, const float *value, const float *x, float *y,
                               int n_rows)
{
    __shared__ float part[128];
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int row = thread / 32, lane = thread % 32;
    if (row < n_rows) {
        int from = first[row], to = first[row + 1];
        float sum = 0;
        for (int i = from + lane; i < to; i += 32)
            sum += value[i] * x[column[i]];
        part[threadIdx.x] = sum;
        __syncwarp();
        for (int far = 16; far > 0; far /= 2) {
            if (lane < far)
                part[threadIdx.x] += part[threadIdx.x + far];
            __syncwarp();
        }
        if (lane == 0)
            y[row] = part[threadIdx.x];
    }
}

__global__ void rows_by_shuffles(const int *first, const int *column, const float *value, const float *x, float *y,
                                 int n_rows)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int row = thread / 32, lane = thread % 32;
    if (row < n_rows) {
        int from = first[row], to = first[row + 1];
        float sum = 0;
        for (int i = from + lane; i < to; i += 32)
            sum += value[i] * x[column[i]];
        for (int far = 16; far > 0; far /= 2)
            sum += __shfl_down_sync(~0u, sum, far);
        if (lane == 0)
            y[row] = sum;
    }
}
