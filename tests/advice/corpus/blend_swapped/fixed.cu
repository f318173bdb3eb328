// Blends two images of integers, row by row.
//
// LAUNCH: blend<<<(16, 64), (32, 8)>>>(a: i32[512,512]=random, b: i32[512,512]=random, out: i32[512,512], 512, 512, 77)

__device__ int mix(int a, int b, int weight)
{
    return (a * weight + b * (256 - weight)) >> 8;
}

__global__ void blend(const int *a, const int *b, int *out, int width, int height, int weight)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < height && col < width)
        out[row * width + col] = mix(a[row * width + col], b[row * width + col], weight);
}
