// Convolutions with small filters in one and two dimensions.

constexpr int LARGEST = 33;

__constant__ float filter[LARGEST * LARGEST];

// The bounds are doubles, so the result is clamped in double precision.
__device__ float clamped(float value)
{
    return min(max(value, 0.0), 1.0);
}

__global__ void line(float *in, float *weights, float *out, int taps, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width)
        return;
    float sum = 0;
    int first = i - taps / 2;
    for (int j = 0; j < taps; ++j)
        if (first + j >= 0 && first + j < width)
            sum += in[first + j] * weights[j];
    out[i] = clamped(sum);
}

__global__ void line_constant(float *in, float *out, int taps, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    int first = i - taps / 2;
    for (int j = 0; j < taps; j++)
        if (first + j >= 0 && first + j < width)
            sum += in[first + j] * filter[j];
    out[i] = clamped(sum);
}

// The block's elements and the halo left and right of them in shared memory.
__global__ void line_tiled(float *in, float *out, int taps, int width)
{
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int halo = taps / 2;
    int left = (blockIdx.x - 1) * blockDim.x + threadIdx.x;
    if (threadIdx.x >= blockDim.x - halo)
        tile[threadIdx.x - (blockDim.x - halo)] = left < 0 ? 0 : in[left];
    tile[halo + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    int right = (blockIdx.x + 1) * blockDim.x + threadIdx.x;
    if (threadIdx.x < halo)
        tile[halo + blockDim.x + threadIdx.x] = right >= width ? 0 : in[right];
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < taps; j++)
        sum += tile[threadIdx.x + j] * filter[j];
    out[i] = clamped(sum);
}

// Only the block's elements in shared memory; the halo comes from the caches.
__global__ void line_cached(float *in, float *out, int taps, int width)
{
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    int begin = blockIdx.x * blockDim.x, end = (blockIdx.x + 1) * blockDim.x;
    int first = i - taps / 2;
    float sum = 0;
    for (int j = 0; j < taps; j++) {
        int at = first + j;
        if (at >= 0 && at < width) {
            if (at >= begin && at < end)
                sum += tile[threadIdx.x + j - taps / 2] * filter[j];
            else
                sum += in[at] * filter[j];
        }
    }
    out[i] = clamped(sum);
}

__global__ void image(float *in, float *weights, float *out, int tall, int wide, int height, int width, int channels)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height || j >= width)
        return;
    int top = i - tall / 2, left = j - wide / 2;
    for (int c = 0; c < channels; ++c) {
        float sum = 0;
        for (int k = 0; k < tall; ++k)
            for (int l = 0; l < wide; ++l)
                if (top + k >= 0 && top + k < height && left + l >= 0 && left + l < width)
                    sum += in[((top + k) * width + left + l) * channels + c] * weights[k * wide + l];
        out[(i * width + j) * channels + c] = clamped(sum);
    }
}

__global__ void image_constant(float *in, float *out, int tall, int wide, int height, int width, int channels)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height || j >= width)
        return;
    int top = i - tall / 2, left = j - wide / 2;
    for (int c = 0; c < channels; ++c) {
        float sum = 0;
        for (int k = 0; k < tall; ++k)
            for (int l = 0; l < wide; ++l)
                if (top + k >= 0 && top + k < height && left + l >= 0 && left + l < width)
                    sum += in[((top + k) * width + left + l) * channels + c] * filter[k * wide + l];
        out[(i * width + j) * channels + c] = clamped(sum);
    }
}

// A block loads as many elements as it has threads, and has fewer results.
__global__ void image_tiled(float *in, float *out, int tall, int wide, int height, int width, int channels)
{
    extern __shared__ float tile[];
    int results_down = blockDim.y - tall + 1, results_across = blockDim.x - wide + 1;
    int y = threadIdx.y, x = threadIdx.x;
    int row = blockIdx.y * results_down + y, column = blockIdx.x * results_across + x;
    int from_row = row - tall / 2, from_column = column - wide / 2;
    for (int c = 0; c < channels; ++c) {
        if (from_row >= 0 && from_row < height && from_column >= 0 && from_column < width)
            tile[y * blockDim.x + x] = in[(from_row * width + from_column) * channels + c];
        else
            tile[y * blockDim.x + x] = 0;
        __syncthreads();
        float sum = 0;
        if (y < results_down && x < results_across && row < height && column < width) {
            for (int k = 0; k < tall; ++k)
                for (int l = 0; l < wide; ++l)
                    sum += tile[(y + k) * blockDim.x + x + l] * filter[k * wide + l];
            out[(row * width + column) * channels + c] = clamped(sum);
        }
        __syncthreads();
    }
}

// A filter of SIZE x SIZE over an image of 4096 x 4096, everything unrolled: blocks of BX x BY threads, DOWN x ACROSS
// results a thread, columns of padding so that blocks less than 32 wide have no bank conflicts.
constexpr int SIZE = 15;
constexpr int BORDER = SIZE / 2 * 2;
constexpr int IMAGE = 4096;

__host__ __device__ constexpr int padding(int bx, int across)
{
    int width = bx * across + BORDER;
    bool needed = bx % 32 != 0 && (width - bx) % 32 != 0;
    return needed ? 32 - (width - bx) & 31 : 0;
}

template <int BX, int BY, int ACROSS, int DOWN, bool PADDED>
__global__ void tuned(float *out, float *in, float *)
{
    constexpr int WIDE = BX * ACROSS + BORDER, TALL = BY * DOWN + BORDER;
    constexpr bool EXACT = IMAGE % (BY * DOWN) == 0 && IMAGE % (BX * ACROSS) == 0;
    __shared__ float tile[TALL][WIDE + (PADDED ? padding(BX, ACROSS) : 0)];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int by = blockIdx.y * BY * DOWN, bx = blockIdx.x * BX * ACROSS;
#pragma unroll
    for (int i = ty; i < TALL; i += BY)
#pragma unroll
        for (int j = tx; j < WIDE; j += BX)
            if (EXACT || (by + i < IMAGE + BORDER && bx + j < IMAGE + BORDER))
                tile[i][j] = in[(by + i) * (IMAGE + BORDER) + bx + j];
    __syncthreads();
    float sum[DOWN][ACROSS];
#pragma unroll
    for (int y = 0; y < DOWN; y++)
#pragma unroll
        for (int x = 0; x < ACROSS; x++)
            sum[y][x] = 0.0f;
#pragma unroll
    for (int i = 0; i < SIZE; i++)
#pragma unroll
        for (int j = 0; j < SIZE; j++)
#pragma unroll
            for (int y = 0; y < DOWN; y++)
#pragma unroll
                for (int x = 0; x < ACROSS; x++)
                    sum[y][x] += tile[ty + y * BY + i][tx + x * BX + j] * filter[i * SIZE + j];
#pragma unroll
    for (int y = 0; y < DOWN; y++)
#pragma unroll
        for (int x = 0; x < ACROSS; x++)
            if (EXACT || (by + ty + y * BY < IMAGE && bx + tx + x * BX < IMAGE))
                out[(by + ty + y * BY) * IMAGE + bx + tx + x * BX] = sum[y][x];
}
