// Transpose through a tile of shared memory, for any 32-bit type.
//
// LAUNCH: transpose<float><<<(24, 24), (32, 8)>>>(out: f32[768,768], in: f32[768,768]=random, 768)

constexpr int TILE = 32;
constexpr int ROWS = 8;

template <typename T> __global__ void transpose(T *out, const T *in, int n)
{
    __shared__ T tile[TILE][TILE + 1];

    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();

    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
