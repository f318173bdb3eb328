// Three dimensions: pitched memory, a part of a volume copied, a texture over it.
#include "check.h"
#include <cstring>
__global__ void read(cudaTextureObject_t volume, float *out)
{
    const int i = threadIdx.x;
    out[i] = tex3D<float>(volume, i % 4, i / 4 % 3, i / 12);
}
int main()
{
    const int width = 4, height = 3, depth = 2, n = width * height * depth;
    float host[n], got[n], *out;
    for (int i = 0; i < n; ++i)
        host[i] = float(i * i);
    const cudaExtent extent = make_cudaExtent(width, height, depth), rows = make_cudaExtent(width * sizeof(float), height, depth);
    cudaPitchedPtr pitched;
    CHECK(cudaMalloc3D(&pitched, rows));
    cudaMemcpy3DParms to_device = {};
    to_device.srcPtr = make_cudaPitchedPtr(host, width * sizeof(float), width, height);
    to_device.dstPtr = pitched;
    to_device.extent = rows;
    to_device.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&to_device));
    cudaArray_t array;
    const cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    CHECK(cudaMalloc3DArray(&array, &channel, extent));
    cudaMemcpy3DParms to_array = {};
    to_array.srcPtr = pitched;
    to_array.dstArray = array;
    to_array.extent = extent;
    to_array.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaMemcpy3D(&to_array));
    cudaResourceDesc what = {};
    what.resType = cudaResourceTypeArray;
    what.res.array.array = array;
    cudaTextureDesc how = {};
    cudaTextureObject_t volume;
    CHECK(cudaCreateTextureObject(&volume, &what, &how, nullptr));
    CHECK(cudaMalloc(&out, sizeof got));
    read<<<1, n>>>(volume, out);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    const bool is_right = pitched.pitch >= width * sizeof(float) && !memcmp(got, host, sizeof got);
    return verdict(is_right);
}
