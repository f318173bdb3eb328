// Three ways to transpose a matrix; each step removes what the step before waits for.
//
// naive:     reads rows, writes columns: every store of a warp touches 32 different lines.
// coalesced: goes through a tile in shared memory, so that loads and stores both walk along rows;
//            but a column of the tile lies in one bank, and the 32 lanes queue for it.
// padded:    one unused column moves each row of the tile to other banks.
//
// LAUNCH: naive<<<(16, 16), (32, 8)>>>(out: f32[512,512], in: f32[512,512]=random, 512)
// LAUNCH: coalesced<<<(16, 16), (32, 8)>>>(out, in, 512)
// LAUNCH: padded<<<(16, 16), (32, 8)>>>(out, in, 512)

constexpr int TILE = 32;
constexpr int ROWS = 8;

__global__ void naive(float *out, const float *in, int n)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[x * n + y + j] = in[(y + j) * n + x];
}

template <int PITCH>
__device__ void through_shared(float *out, const float *in, int n)
{
    __shared__ float tile[TILE][PITCH];

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

__global__ void coalesced(float *out, const float *in, int n)
{
    through_shared<TILE>(out, in, n);
}

__global__ void padded(float *out, const float *in, int n)
{
    through_shared<TILE + 1>(out, in, n);
}
