// Transposes a matrix through a tile in shared memory; the unused column keeps the lanes of a warp in different banks.
//
// LAUNCH: transpose<<<(8, 8), (32, 8)>>>(out: f32[256,256], in: f32[256,256]=random, 256)

constexpr int TILE = 32;
constexpr int PAD = 1;

__global__ void transpose(float *__restrict__ out, const float *__restrict__ in, int n)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
