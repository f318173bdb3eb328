// A filter of 5 x 5 over a picture, from global memory and through shared memory.
#define TILE 16
#define REACH 2
#define WIDTH (2 * REACH + 1)

__global__ void filter_global(float *in, float *out, float *weight, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y < height && x < width) {
        float sum = 0;
        for (int i = -REACH; i <= REACH; i++)
            for (int j = -REACH; j <= REACH; j++) {
                int row = y + i, column = x + j;
                if (row >= 0 && row < height && column >= 0 && column < width)
                    sum += in[row * width + column] * weight[(i + REACH) * WIDTH + j + REACH];
            }
        out[y * width + x] = sum;
    }
}

__global__ void filter_tiled(float *in, float *out, float *weight, int width, int height)
{
    __shared__ float tile[TILE + 2 * REACH][TILE + 2 * REACH];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    for (int i = ty; i < TILE + 2 * REACH; i += TILE)
        for (int j = tx; j < TILE + 2 * REACH; j += TILE) {
            int row = blockIdx.y * TILE + i - REACH, column = blockIdx.x * TILE + j - REACH;
            if (row >= 0 && row < height && column >= 0 && column < width)
                tile[i][j] = in[row * width + column];
            else
                tile[i][j] = 0;
        }
    __syncthreads();
    if (y < height && x < width) {
        float sum = 0;
        for (int i = 0; i < WIDTH; i++)
            for (int j = 0; j < WIDTH; j++)
                sum += tile[ty + i][tx + j] * weight[i * WIDTH + j];
        out[y * width + x] = sum;
    }
}
