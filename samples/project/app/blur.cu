// Blurs a picture several times: blur PICTURE STEPS
#include "picture.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

__global__ void blur(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            int px = min(max(x + dx, 0), width - 1), py = min(max(y + dy, 0), height - 1);
            sum += in[py * width + px];
        }
    out[y * width + x] = sum / 9;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "blur PICTURE STEPS\n");
        return 2;
    }
    Picture picture = read_picture(argv[1]);
    size_t nbytes = picture.pixels.size() * sizeof(float);
    float *in, *out;
    cudaMalloc(&in, nbytes);
    cudaMalloc(&out, nbytes);
    cudaMemcpy(in, picture.pixels.data(), nbytes, cudaMemcpyHostToDevice);
    dim3 block(32, 8), grid((picture.width + 31) / 32, (picture.height + 7) / 8);
    for (int step = 0; step < atoi(argv[2]); ++step) {
        blur<<<grid, block>>>(in, out, picture.width, picture.height);
        std::swap(in, out);
    }
    cudaMemcpy(picture.pixels.data(), in, nbytes, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (float pixel : picture.pixels)
        sum += pixel;
    printf("mean %.4f\n", sum / picture.pixels.size());
    cudaFree(in);
    cudaFree(out);
}
