// Textures: points and linear filtering over an array, clamped and wrapped; a linear one over plain memory.
#include "check.h"
#include <cmath>
__global__ void sample(cudaTextureObject_t smooth, cudaTextureObject_t wrapped, cudaTextureObject_t plain, float *out)
{
    const int i = threadIdx.x;
    out[i] = tex2D<float>(smooth, i * 0.5f, 0.5f);
    out[16 + i] = tex2D<float>(wrapped, i / 8.0f + 1 / 16.0f, 0.25f);
    out[32 + i] = tex1Dfetch<float>(plain, 15 - i);
}
int main()
{
    const int width = 8, height = 2;
    float texels[height][width], got[48], *line, *out;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            texels[y][x] = float(10 * y + x);
    cudaArray_t array;
    const cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &channel, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, texels, sizeof texels[0], sizeof texels[0], height, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&line, 16 * sizeof(float)));
    CHECK(cudaMemcpy(line, texels, sizeof texels, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&out, sizeof got));
    cudaResourceDesc of_array = {}, of_line = {};
    of_array.resType = cudaResourceTypeArray;
    of_array.res.array.array = array;
    of_line.resType = cudaResourceTypeLinear;
    of_line.res.linear = {line, channel, 16 * sizeof(float)};
    cudaTextureDesc smooth = {}, wrapped = {}, plain = {};
    smooth.addressMode[0] = smooth.addressMode[1] = cudaAddressModeClamp;
    smooth.filterMode = cudaFilterModeLinear;
    wrapped.addressMode[0] = wrapped.addressMode[1] = cudaAddressModeWrap;
    wrapped.normalizedCoords = 1;
    cudaTextureObject_t textures[3];
    CHECK(cudaCreateTextureObject(&textures[0], &of_array, &smooth, nullptr));
    CHECK(cudaCreateTextureObject(&textures[1], &of_array, &wrapped, nullptr));
    CHECK(cudaCreateTextureObject(&textures[2], &of_line, &plain, nullptr));
    sample<<<1, 16>>>(textures[0], textures[1], textures[2], out);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int i = 0; i < 16; ++i) {
        const float x = std::fmin(std::fmax(i * 0.5f - 0.5f, 0), width - 1);
        is_right &= std::fabs(got[i] - x) < 1e-5f;
        is_right &= got[16 + i] == i % 8;
        is_right &= got[32 + i] == texels[(15 - i) / width][(15 - i) % width];
    }
    for (cudaTextureObject_t each : textures)
        CHECK(cudaDestroyTextureObject(each));
    CHECK(cudaFreeArray(array));
    return verdict(is_right);
}
