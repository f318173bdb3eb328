// A copy, and transposes: through global memory alone, and through a tile of shared memory with and without padding.
#define TILE_X 32
#define TILE_Y 16

__global__ void transpose_global(const float *__restrict__ in, float *out, const int width, const int height)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

__global__ void copy_matrix(const float *__restrict__ in, float *out, const int width, const int height)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = in[y * width + x];
}

template <int PAD>
__global__ void transpose_shared(const float *__restrict__ in, float *out, const int width, const int height)
{
    __shared__ float tile[TILE_Y][TILE_X + PAD];
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
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

__global__ void transpose_two(const float *__restrict__ in, float *out, const int width, const int height)
{
    __shared__ float tile[TILE_Y * (TILE_X * 2 + 2)];
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * 2 * blockDim.x + threadIdx.x;
    unsigned from = y * width + x;
    unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    unsigned row = thread / blockDim.y, column = thread % blockDim.y;
    unsigned to = (blockIdx.x * 2 * blockDim.x + row) * height + blockIdx.y * blockDim.y + column;
    if (x + blockDim.x < width && y < height) {
        unsigned place = threadIdx.y * (blockDim.x * 2 + 2) + threadIdx.x;
        tile[place] = in[from];
        tile[place + TILE_X] = in[from + TILE_X];
        __syncthreads();
        place = column * (blockDim.x * 2 + 2) + row;
        out[to] = tile[place];
        out[to + height * TILE_X] = tile[place + TILE_X];
    }
}
