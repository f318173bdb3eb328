// Turns a matrix over in tiles of 16 x 16.
constexpr int EDGE = 16;
#ifndef PITCH
#define PITCH EDGE
#endif

// LAUNCH: turn<<<4096, 256>>>(in: f32[1024,1024]=random, out: f32[1024,1024], 1024, 1024)
__global__ void turn(const float *in, float *out, int width, int height)
{
    __shared__ float tile[EDGE * (EDGE + 1)];
    int row = threadIdx.x / EDGE, column = threadIdx.x % EDGE;
    int tiles = width / EDGE;
    int top = blockIdx.x / tiles * EDGE, left = blockIdx.x % tiles * EDGE;
    tile[row * PITCH + column] = in[(top + row) * width + left + column];
    __syncthreads();
    out[(left + row) * height + top + column] = tile[column * PITCH + row];
}
