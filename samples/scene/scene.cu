// A lit, textured model and the ground below it, in two passes: depths as the light sees them, then the picture.
#include <gpuprof/graphics.h>

struct Vertex {
    float3 position, normal;
    float2 uv;
};

struct Matrix {
    float4 rows[4];
};

struct Varyings {
    float3 normal, toLight; // toLight: where the light sees the point; x and y from 0 to 1, and its depth
    float2 uv;
};

struct Nothing {};

__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ float times(float4 row, float3 p) { return row.x * p.x + row.y * p.y + row.z * p.z + row.w; }
__device__ float4 times(const Matrix &m, float3 p)
{
    return make_float4(times(m.rows[0], p), times(m.rows[1], p), times(m.rows[2], p), times(m.rows[3], p));
}

__global__ void shadow(VertexStage<Vertex, Nothing> stage, Matrix light) { stage.out(times(light, stage.in().position)); }
SHADER(shadow)

__global__ void transform(VertexStage<Vertex, Varyings> stage, Matrix camera, Matrix light)
{
    Vertex in = stage.in();
    float4 seen = times(light, in.position);
    Varyings out = {in.normal, make_float3(.5f + .5f * seen.x, .5f - .5f * seen.y, seen.z), in.uv};
    stage.out(times(camera, in.position), out);
}
SHADER(transform)

// Depths are a texture here; a point that lies behind what the light sees is in the shadow.
__global__ void lit(PixelStage<Varyings> stage, cudaTextureObject_t picture, cudaTextureObject_t depths, float3 towards)
{
    Varyings in = stage.in();
    float4 color = sample(picture, in.uv);
    float seen = tex2DLod<float>(depths, in.toLight.x, in.toLight.y, 0);
    float light = in.toLight.z > seen + .004f ? 0 : fmaxf(dot(in.normal, towards), 0) * rsqrtf(dot(in.normal, in.normal));
    float strength = .25f + .75f * light;
    stage.color(make_float4(color.x * strength, color.y * strength, color.z * strength, 1));
}
SHADER(lit)
