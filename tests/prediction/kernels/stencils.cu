// Five and nine points of a plane, directly and through a tile.

__global__ void five_points(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1)
        return;
    int i = y * width + x;
    out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

__global__ void five_points_tiled(const float *in, float *out, int width, int height)
{
    __shared__ float tile[18][18];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty, i = y * width + x;
    tile[ty + 1][tx + 1] = in[i];
    if (tx == 0 && x > 0)
        tile[ty + 1][0] = in[i - 1];
    if (tx == 15 && x < width - 1)
        tile[ty + 1][17] = in[i + 1];
    if (ty == 0 && y > 0)
        tile[0][tx + 1] = in[i - width];
    if (ty == 15 && y < height - 1)
        tile[17][tx + 1] = in[i + width];
    __syncthreads();
    if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1)
        return;
    out[i] = 0.2f * (tile[ty + 1][tx + 1] + tile[ty + 1][tx] + tile[ty + 1][tx + 2] + tile[ty][tx + 1] + tile[ty + 2][tx + 1]);
}

__global__ void life(const unsigned char *in, unsigned char *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, around = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int i = (y + dy + height) % height * width + (x + dx + width) % width;
            around += (dx || dy) && in[i] > 127;
        }
    out[y * width + x] = around == 3 || (around == 2 && in[y * width + x] > 127) ? 255 : 0;
}
