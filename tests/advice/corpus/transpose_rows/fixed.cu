// Transpose of a square matrix of 32-bit integers.
//
// LAUNCH: transpose<<<(16, 16), (32, 8)>>>(out: i32[512,512], in: i32[512,512]=arange, 512)

constexpr int TILE = 32;
constexpr int ROWS = 8;

__global__ void transpose(int *out, const int *in, int n)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    __shared__ int tile[TILE][TILE + 1];
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
