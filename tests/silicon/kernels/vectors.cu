// Products of a row-major matrix and a vector.

// A thread a row; `pitch` from row to row.
template <class T>
__global__ void by_threads(T *out, T *matrix, T *vector, int rows, int pitch, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    T sum = 0;
    for (int k = 0; k < columns; ++k)
        sum += matrix[row * pitch + k] * vector[k];
    out[row] = sum;
}

// The same; the block loads as much of the vector as it has threads into shared memory at a time.
template <class T>
__global__ void by_threads_tiled(T *out, T *matrix, T *vector, int rows, int pitch, int columns)
{
    extern __shared__ unsigned char dynamic[];
    T *tile = reinterpret_cast<T *>(dynamic);
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    T sum = 0;
    int phases = (columns + blockDim.x - 1) / blockDim.x;
    for (int phase = 0; phase < phases; ++phase) {
        int at = phase * blockDim.x + threadIdx.x;
        tile[threadIdx.x] = at < columns ? vector[at] : 0;
        __syncthreads();
        if (row < rows)
            for (int k = 0; k < blockDim.x && phase * blockDim.x + k < columns; ++k)
                sum += matrix[row * pitch + phase * blockDim.x + k] * tile[k];
        __syncthreads();
    }
    out[row] = sum;
}

template <int LANES>
__device__ float shuffled(float sum)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        if (LANES >= 2 * offset)
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
    return sum;
}

// A warp a row.
__global__ void by_warps(float *__restrict__ matrix, float *__restrict__ vector, float *__restrict__ out,
                         const int rows, const int columns)
{
    int lane = threadIdx.x % 32, row = blockDim.y * blockIdx.x + threadIdx.y;
    if (row < rows) {
        float sum = 0;
        int turns = columns / 32;
        if (turns == 0)
            turns = 1;
#pragma unroll
        for (int i = 0; i < turns; i++) {
            int column = i * 32 + lane;
            sum += matrix[row * columns + column] * vector[column];
        }
        sum = shuffled<32>(sum);
        if (lane == 0)
            out[row] = sum;
    }
}

// A warp a row, four elements a lane and turn.
__global__ void by_warps_of_four(float *__restrict__ matrix, float *__restrict__ vector, float *__restrict__ out,
                                 const int rows, const int columns)
{
    int lane = threadIdx.x % 32, row = blockDim.y * blockIdx.x + threadIdx.y;
    if (row < rows) {
        float sum = 0;
        int turns = columns / 32 / 4;
        if (turns == 0)
            turns = 1;
        matrix += row * columns;
#pragma unroll
        for (int i = 0; i < turns; i++) {
            int column = i * 32 + lane;
            float4 a = reinterpret_cast<float4 *>(matrix)[column], x = reinterpret_cast<float4 *>(vector)[column];
            sum += a.x * x.x;
            sum += a.y * x.y;
            sum += a.z * x.z;
            sum += a.w * x.w;
        }
        sum = shuffled<32>(sum);
        if (lane == 0)
            out[row] = sum;
    }
}

// So many rows a warp, one element a lane.
template <int ROWS>
__global__ void by_parts_of_warps(float *__restrict__ matrix, float *__restrict__ vector, float *__restrict__ out,
                                  const int rows, const int columns)
{
    const int lanes = 32 / ROWS;
    int lane = threadIdx.x % 32 % lanes;
    int row = (blockDim.y * blockIdx.x + threadIdx.y) * ROWS + threadIdx.x % 32 / lanes;
    if (row < rows) {
        float sum = matrix[row * columns + lane] * vector[lane];
        sum = shuffled<lanes>(sum);
        if (lane == 0)
            out[row] = sum;
    }
}
