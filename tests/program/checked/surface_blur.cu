// A surface that kernels read and write: a picture of bytes is blurred, its edges stay.
#include "check.h"
__global__ void blur(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height)
{
    const int x = threadIdx.x, y = blockIdx.x;
    unsigned char mine = surf2Dread<unsigned char>(from, x, y);
    if (x && x < width - 1) {
        const int left = surf2Dread<unsigned char>(from, x - 1, y), right = surf2Dread<unsigned char>(from, x + 1, y);
        mine = (unsigned char)((left + 2 * mine + right) / 4);
    }
    surf2Dwrite(mine, to, x, height - 1 - y);
}
int main()
{
    const int width = 32, height = 6;
    unsigned char start[height][width], got[height][width];
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            start[y][x] = (unsigned char)(x * x + 37 * y);
    cudaArray_t arrays[2];
    cudaSurfaceObject_t surfaces[2];
    const cudaChannelFormatDesc channel = cudaCreateChannelDesc<unsigned char>();
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaMallocArray(&arrays[i], &channel, width, height, cudaArraySurfaceLoadStore));
        cudaResourceDesc how = {};
        how.resType = cudaResourceTypeArray;
        how.res.array.array = arrays[i];
        CHECK(cudaCreateSurfaceObject(&surfaces[i], &how));
    }
    CHECK(cudaMemcpy2DToArray(arrays[0], 0, 0, start, width, width, height, cudaMemcpyHostToDevice));
    blur<<<height, width>>>(surfaces[0], surfaces[1], width, height);
    CHECK(cudaMemcpy2DFromArray(got, width, arrays[1], 0, 0, width, height, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const unsigned char *row = start[y];
            const int expected = x && x < width - 1 ? (row[x - 1] + 2 * row[x] + row[x + 1]) / 4 : row[x];
            is_right &= got[height - 1 - y][x] == expected;
        }
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaDestroySurfaceObject(surfaces[i]));
        CHECK(cudaFreeArray(arrays[i]));
    }
    return verdict(is_right);
}
