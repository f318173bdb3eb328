// Conway's game of life on a torus; a glider comes back after four generations, one step further.
#include "check.h"
#include <cstring>
#include <initializer_list>
__global__ void generation(const unsigned char *in, unsigned char *out)
{
    const int x = threadIdx.x, y = threadIdx.y, w = blockDim.x, h = blockDim.y;
    int n = 0;
    for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i)
            n += (i || j) && in[(y + j + h) % h * w + (x + i + w) % w];
    out[y * w + x] = n == 3 || (n == 2 && in[y * w + x]);
}
int main()
{
    unsigned char world[256] = {}, got[256], *a, *b;
    for (int cell : {1, 18, 32, 33, 34})
        world[cell] = 1;
    CHECK(cudaMalloc(&a, 256));
    CHECK(cudaMalloc(&b, 256));
    CHECK(cudaMemcpy(a, world, 256, cudaMemcpyHostToDevice));
    for (int i = 0; i < 2; ++i) {
        generation<<<1, dim3(16, 16)>>>(a, b);
        generation<<<1, dim3(16, 16)>>>(b, a);
    }
    CHECK(cudaMemcpy(got, a, 256, cudaMemcpyDeviceToHost));
    unsigned char moved[256] = {};
    for (int i = 0; i < 256; ++i)
        moved[(i + 17) % 256] = world[i];
    return verdict(!memcmp(got, moved, 256));
}
