// Image kernels: rotated and bicubic fetches, rays through a volume, an edge filter that writes a surface.
#include <cuda_runtime.h>
#include <texture_indirect_functions.h>
__global__ void transformKernel(float *outputData, int width, int height, float theta, cudaTextureObject_t tex)
{
    unsigned int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = (float)x - (float)width / 2, v = (float)y - (float)height / 2;
    float tu = u * cosf(theta) - v * sinf(theta), tv = v * cosf(theta) + u * sinf(theta);
    tu /= (float)width;
    tv /= (float)height;
    outputData[y * width + x] = tex2D<float>(tex, tu + 0.5f, tv + 0.5f);
}
__host__ __device__ float w0(float a)
{
    return (1.0f / 6.0f) * (a * (a * (-a + 3.0f) - 3.0f) + 1.0f);
}
__host__ __device__ float w1(float a)
{
    return (1.0f / 6.0f) * (a * a * (3.0f * a - 6.0f) + 4.0f);
}
__host__ __device__ float w2(float a)
{
    return (1.0f / 6.0f) * (a * (a * (-3.0f * a + 3.0f) + 3.0f) + 1.0f);
}
__host__ __device__ float w3(float a)
{
    return (1.0f / 6.0f) * (a * a * a);
}
template <class T, class R> __device__ R tex2DFastBicubic(const cudaTextureObject_t t, float x, float y)
{
    x -= 0.5f;
    y -= 0.5f;
    float px = floorf(x), py = floorf(y), fx = x - px, fy = y - py;
    float g0x = w0(fx) + w1(fx), g1x = w2(fx) + w3(fx), h0x = -1.0f + w1(fx) / g0x + 0.5f, h1x = 1.0f + w3(fx) / g1x + 0.5f;
    float g0y = w0(fy) + w1(fy), g1y = w2(fy) + w3(fy), h0y = -1.0f + w1(fy) / g0y + 0.5f, h1y = 1.0f + w3(fy) / g1y + 0.5f;
    return g0y * (g0x * tex2D<R>(t, px + h0x, py + h0y) + g1x * tex2D<R>(t, px + h1x, py + h0y)) +
           g1y * (g0x * tex2D<R>(t, px + h0x, py + h1y) + g1x * tex2D<R>(t, px + h1x, py + h1y));
}
__global__ void bicubic(float *o, int w, int h, float tx, float ty, float s, cudaTextureObject_t t)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        o[y * w + x] = tex2DFastBicubic<unsigned char, float>(t, x * s + tx, y * s + ty);
}
struct Ray {
    float3 o, d;
};
inline __device__ float3 operator+(float3 a, float3 b)
{
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
inline __device__ float3 operator*(float3 a, float b)
{
    return make_float3(a.x * b, a.y * b, a.z * b);
}
typedef struct {
    float4 m[3];
} float3x4;
__constant__ float3x4 c_invViewMatrix;
__global__ void d_render(uint4 *unused, float4 *d_output, int imageW, int imageH, float density, cudaTextureObject_t tex,
                         cudaTextureObject_t transfer)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= imageW || y >= imageH)
        return;
    Ray r;
    r.o = make_float3((x + .5f) / imageW, (y + .5f) / imageH, 0);
    r.d = make_float3(0, 0, 1);
    float4 sum = make_float4(0, 0, 0, 0);
    float t = 0;
    for (int i = 0; i < 40; i++) {
        float3 p = r.o + r.d * t;
        float s = tex3D<float>(tex, p.x, p.y, p.z);
        float4 col = tex1D<float4>(transfer, s);
        col.w *= density;
        col.x *= col.w;
        col.y *= col.w;
        col.z *= col.w;
        float k = 1.0f - sum.w;
        sum.x += col.x * k;
        sum.y += col.y * k;
        sum.z += col.z * k;
        sum.w += col.w * k;
        if (sum.w > 0.95f)
            break;
        t += 1.f / 40;
    }
    d_output[y * imageW + x] = sum;
}
__global__ void sobel(cudaTextureObject_t tex, cudaSurfaceObject_t surf, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    auto p = [&](int i, int j) { return (int)tex2D<unsigned char>(tex, x + i, y + j); };
    int hx = p(1, -1) + 2 * p(1, 0) + p(1, 1) - p(-1, -1) - 2 * p(-1, 0) - p(-1, 1),
        vx = p(-1, -1) + 2 * p(0, -1) + p(1, -1) - p(-1, 1) - 2 * p(0, 1) - p(1, 1);
    int s = abs(hx) + abs(vx);
    surf2Dwrite((unsigned char)min(s, 255), surf, x, y, cudaBoundaryModeTrap);
}
