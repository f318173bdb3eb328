// Products of row-major matrices of integers, as large as the launch says. `depth` is how many of the `pitch` columns
// of the first matrix are multiplied.

// A thread an element.
template <class T>
__global__ void by_elements(T *a, T *b, T *out, int rows, int pitch, int depth, int columns)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= columns)
        return;
    T sum = 0;
    for (int k = 0; k < depth; ++k)
        sum += a[row * pitch + k] * b[k * columns + column];
    out[row * columns + column] = sum;
}

// Square tiles in shared memory, as wide as the block.
template <class T>
__global__ void by_tiles(T *a, T *b, T *out, int rows, int pitch, int depth, int columns)
{
    int width = blockDim.x;
    extern __shared__ unsigned char dynamic[];
    T *left = reinterpret_cast<T *>(dynamic);
    T *right = reinterpret_cast<T *>(dynamic + width * width * sizeof(T));
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * width + ty, column = blockIdx.x * width + tx;
    T sum = 0;
    for (int phase = 0; phase < (depth + width - 1) / width; ++phase) {
        left[ty * width + tx] =
            row < rows && phase * width + tx < depth ? a[row * pitch + phase * width + tx] : 0;
        right[ty * width + tx] =
            phase * width + ty < depth && column < columns ? b[(phase * width + ty) * columns + column] : 0;
        __syncthreads();
        for (int k = 0; k < width; ++k)
            sum += left[ty * width + k] * right[k * width + tx];
        __syncthreads();
    }
    if (row < rows && column < columns)
        out[row * columns + column] = sum;
}

// Two results a thread. The second tile overlaps the first by all but one row, and the grid is four times as wide as
// the matrix: both are so in the kernel that was measured.
template <class T>
__global__ void by_two_tiles(T *a, T *b, T *out, int rows, int pitch, int depth, int columns)
{
    int width = blockDim.x;
    extern __shared__ unsigned char dynamic[];
    T *left = reinterpret_cast<T *>(dynamic);
    T *right = reinterpret_cast<T *>(dynamic + width * width * sizeof(T));
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * width + ty, column = blockIdx.x * width * 2 + tx;
    T first = 0, second = 0;
    for (int phase = 0; phase < (depth + width - 1) / width; ++phase) {
        left[ty * width + tx] =
            row < rows && phase * width + tx < depth ? a[row * pitch + phase * width + tx] : 0;
        right[ty * width + tx] =
            phase * width + ty < depth && column < columns ? b[(phase * width + ty) * columns + column] : 0;
        right[ty * width + width + tx] = phase * width + ty < depth && width + column < columns
                                             ? b[(phase * width + ty) * columns + width + column]
                                             : 0;
        __syncthreads();
        for (int k = 0; k < width; k++) {
            first += left[ty * width + k] * right[k * width + tx];
            second += left[ty * width + k] * right[k * width + width + tx];
        }
        __syncthreads();
    }
    if (row < rows && column < columns)
        out[row * columns + column] = first;
    if (row < rows && width + column < columns)
        out[row * columns + width + column] = second;
}
