// The Mandelbrot set: neighbouring pixels leave the loop after different numbers of steps, and a warp waits for its slowest.
//
// LAUNCH: mandelbrot<<<(16, 32), (16, 8)>>>(counts: i32[256,256], 256, 256, 200)

__global__ void mandelbrot(int *counts, int width, int height, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    float cx = -2.0f + 3.0f * px / width;
    float cy = -1.5f + 3.0f * py / height;
    float x = 0, y = 0;
    int count = 0;
    while (count < limit && x * x + y * y < 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        count++;
    }
    counts[py * width + px] = count;
}
