// Transposes and copies of a matrix whose rows are `width` floats long.

constexpr int TILE = 32;
constexpr int ROWS = 8;

// Blocks of 32 x 8 threads, each thread four rows of a tile.
// Blocks overlap: each begins 8 rows below the one before, so a quarter of the matrix is copied, four times.
__global__ void copy_overlapping(float *out, const float *in, int width)
{
    int x = blockDim.x * blockIdx.x + threadIdx.x;
    int y = blockDim.y * blockIdx.y + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * width + x] = in[(y + j) * width + x];
}

__global__ void direct(float *out, const float *in, int width)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[x * width + y + j] = in[(y + j) * width + x];
}

__global__ void copy_through_shared(float *out, const float *in, int width)
{
    __shared__ float tile[TILE * TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        tile[(threadIdx.y + j) * TILE + threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * width + x] = tile[(threadIdx.y + j) * TILE + threadIdx.x];
}

// `PITCH` 32: a column of the tile lies in one bank; 33: in all. Threads of a block: 32 x `STEP`.
template <int PITCH, int STEP>
__global__ void through_shared(float *out, const float *in, int width)
{
    __shared__ float tile[TILE][PITCH];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += STEP)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += STEP)
        out[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}

// Blocks of 32 x 16 threads, one element a thread, with bounds.
__global__ void direct_bounded(const float *__restrict__ in, float *out, const int width, const int height)
{
    unsigned x = blockDim.x * blockIdx.x + threadIdx.x;
    unsigned y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

__global__ void copy_bounded(const float *__restrict__ in, float *out, const int width, const int height)
{
    unsigned x = blockDim.x * blockIdx.x + threadIdx.x;
    unsigned y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = in[y * width + x];
}

// A tile of 16 rows; its columns are written 16 elements at a time.
template <int PAD>
__global__ void half_tiles(const float *__restrict__ in, float *out, const int width, const int height)
{
    __shared__ float tile[16][32 + PAD];
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned from = y * width + x;
    unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    unsigned row = thread / blockDim.y, column = thread % blockDim.y;
    x = blockIdx.y * blockDim.y + column;
    y = blockIdx.x * blockDim.x + row;
    unsigned to = y * height + x;
    if (x < width && y < height) {
        tile[threadIdx.y][threadIdx.x] = in[from];
        __syncthreads();
        out[to] = tile[column][row];
    }
}

// Two such tiles side by side.
__global__ void half_tiles_twice(const float *__restrict__ in, float *out, const int width, const int height)
{
    __shared__ float tile[16 * (64 + 2)];
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned x = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    unsigned from = y * width + x;
    unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    unsigned row = thread / blockDim.y, column = thread % blockDim.y;
    unsigned to = (2 * blockIdx.x * blockDim.x + row) * height + blockIdx.y * blockDim.y + column;
    if (x + blockDim.x < width && y < height) {
        unsigned at = threadIdx.y * (2 * blockDim.x + 2) + threadIdx.x;
        tile[at] = in[from];
        tile[at + 32] = in[from + 32];
        __syncthreads();
        at = column * (2 * blockDim.x + 2) + row;
        out[to] = tile[at];
        out[to + 32 * height] = tile[at + 32];
    }
}
