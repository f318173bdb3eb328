// Textures and surfaces: arrays of one to three dimensions, layers, mipmaps, linear memory, and their copies.
#include <cstdio>
#include <vector>
__global__ void rotate(cudaTextureObject_t in, cudaSurfaceObject_t copy, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        out[y * w + x] = tex2D<float>(in, w - x - 0.5f, h - y - 0.5f);
        surf2Dwrite(2 * out[y * w + x], copy, x * (int)sizeof(float), y);
    }
}
__global__ void fetch(cudaTextureObject_t line, cudaTextureObject_t layers, cudaTextureObject_t volume, cudaTextureObject_t levels, float *out)
{
    out[0] = tex1Dfetch<int>(line, 5);
    out[1] = tex2DLayered<float>(layers, 1.5f, 0.5f, 2);
    out[2] = tex3D<float>(volume, 1.0f, 0.5f, 1.5f); // between two texels
    out[3] = tex2DLod<uchar4>(levels, 0.5f, 0.5f, 1).y;
}
#define CHECK(call)                                                                          \
    if (cudaError_t error = (call)) {                                                        \
        printf("line %d: %s\n", __LINE__, cudaGetErrorName(error));                          \
        return 2;                                                                            \
    }
cudaTextureObject_t texture(const cudaResourceDesc &from, cudaTextureFilterMode filter = cudaFilterModePoint, bool normalized = false)
{
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
    how.filterMode = filter;
    how.normalizedCoords = normalized;
    cudaTextureObject_t made = 0;
    if (cudaError_t error = cudaCreateTextureObject(&made, &from, &how, nullptr))
        printf("%s\n", cudaGetErrorName(error));
    return made;
}
cudaResourceDesc of(cudaArray_t array)
{
    cudaResourceDesc from = {};
    from.resType = cudaResourceTypeArray;
    from.res.array.array = array;
    return from;
}
int main()
{
    const int w = 20, h = 12;
    std::vector<float> in(w * h), out(w * h), twice(w * h), room(64 * 6);
    for (int i = 0; i < w * h; ++i)
        in[i] = i * 0.5f;
    const cudaChannelFormatDesc of_float = cudaCreateChannelDesc<float>(), of_bytes = cudaCreateChannelDesc<uchar4>();
    cudaArray_t plane, copy, layers, volume;
    CHECK(cudaMallocArray(&plane, &of_float, w, h));
    CHECK(cudaMallocArray(&copy, &of_float, w, h, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(plane, 0, 0, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    cudaResourceDesc to = of(copy);
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &to));
    float *found;
    CHECK(cudaMalloc(&found, w * h * 4));
    rotate<<<dim3(2, 1), dim3(16, 16)>>>(texture(of(plane)), surface, found, w, h);
    CHECK(cudaMemcpy(out.data(), found, w * h * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy2DFromArray(twice.data(), w * 4, copy, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < w * h; ++i)
        bad += out[i] != in[w * h - 1 - i] || twice[i] != 2 * out[i];

    CHECK(cudaMalloc3DArray(&layers, &of_float, make_cudaExtent(4, 2, 3), cudaArrayLayered));
    CHECK(cudaMalloc3DArray(&volume, &of_float, make_cudaExtent(4, 2, 3)));
    for (int z = 0; z < 3; ++z) // rows of 64 bytes and slices of two rows, of which a part is copied
        for (int i = 0; i < 8; ++i)
            room[z * 32 + i / 4 * 16 + i % 4] = 100 * z + 10 * (i / 4) + i % 4;
    cudaMemcpy3DParms how = {};
    how.srcPtr = make_cudaPitchedPtr(room.data(), 64, 4, 2);
    how.extent = make_cudaExtent(4, 2, 3);
    how.kind = cudaMemcpyHostToDevice;
    how.dstArray = layers;
    CHECK(cudaMemcpy3D(&how));
    how.dstArray = volume;
    CHECK(cudaMemcpy3D(&how));
    std::vector<int> numbers(16);
    for (int i = 0; i < 16; ++i)
        numbers[i] = i * i;
    int *line;
    CHECK(cudaMalloc(&line, 64));
    CHECK(cudaMemcpy(line, numbers.data(), 64, cudaMemcpyHostToDevice));
    cudaResourceDesc linear = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear = {line, cudaCreateChannelDesc<int>(), 64};
    cudaMipmappedArray_t mipmap;
    cudaArray_t level;
    CHECK(cudaMallocMipmappedArray(&mipmap, &of_bytes, make_cudaExtent(4, 4, 0), 2));
    CHECK(cudaGetMipmappedArrayLevel(&level, mipmap, 1));
    const uchar4 texels[4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};
    CHECK(cudaMemcpyToArray(level, 0, 0, texels, sizeof texels, cudaMemcpyHostToDevice));
    cudaExtent extent;
    CHECK(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
    cudaResourceDesc mipmapped = {};
    mipmapped.resType = cudaResourceTypeMipmappedArray;
    mipmapped.res.mipmap.mipmap = mipmap;
    fetch<<<1, 1>>>(texture(linear), texture(of(layers)), texture(of(volume), cudaFilterModeLinear), texture(mipmapped, cudaFilterModePoint, true), found);
    CHECK(cudaMemcpy(out.data(), found, 16, cudaMemcpyDeviceToHost));
    printf("%s %g %g %g %g, level of %zu x %zu\n", bad ? "FAIL" : "PASS", out[0], out[1], out[2], out[3], extent.width, extent.height);
    CHECK(cudaFreeArray(plane));
    CHECK(cudaFreeMipmappedArray(mipmap));
    printf("%s\n", cudaGetErrorName(cudaMemcpy2DToArray(copy, 4, 0, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice))); // past the row
    cudaChannelFormatDesc wrong = {8, 16, 0, 0, cudaChannelFormatKindSigned};
    printf("%s\n", cudaGetErrorName(cudaMallocArray(&plane, &wrong, 4, 4)));
}
