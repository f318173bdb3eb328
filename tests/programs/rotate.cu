// An image turned about its centre, read through a texture that filters and wraps, written through a surface.
// LAUNCH: rotate<<<(4, 4), (16, 16)>>>(tex2d(linear, wrap, normalized) picture: f32[64,64]=random, surf2d canvas: f32[64,64], 64, 64, 0.5)

__global__ void rotate(cudaTextureObject_t picture, cudaSurfaceObject_t canvas, int width, int height, float angle)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float u = (x + 0.5f) / width - 0.5f, v = (y + 0.5f) / height - 0.5f;
    float from_u = u * cosf(angle) - v * sinf(angle) + 0.5f, from_v = v * cosf(angle) + u * sinf(angle) + 0.5f;
    surf2Dwrite(tex2D<float>(picture, from_u, from_v), canvas, x * (int)sizeof(float), y);
}

int main()
{
    const int n = 64;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t from, to;
    cudaMallocArray(&from, &format, n, n);
    cudaMallocArray(&to, &format, n, n, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = from;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeElementType;
    how.normalizedCoords = 1;
    cudaTextureObject_t picture;
    cudaCreateTextureObject(&picture, &resource, &how, nullptr);
    resource.res.array.array = to;
    cudaSurfaceObject_t canvas;
    cudaCreateSurfaceObject(&canvas, &resource);
    rotate<<<dim3(4, 4), dim3(16, 16)>>>(picture, canvas, n, n, 0.5f);
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(picture);
    cudaDestroySurfaceObject(canvas);
    cudaFreeArray(from);
    cudaFreeArray(to);
}
