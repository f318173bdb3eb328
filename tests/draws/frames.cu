// Shaders of the frames in frames.py; glsl.py has their twins.
#include <gpuprof/graphics.h>

struct Vertex {
    float position[4], color[4], uv[2];
};

struct Varyings {
    float4 color;
    float2 uv;
};

struct Matrix {
    float4 rows[4];
};

__device__ float4 place(const Vertex &in) { return make_float4(in.position[0], in.position[1], in.position[2], in.position[3]); }
__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__device__ float4 times(const Matrix &m, float4 p) { return make_float4(dot(m.rows[0], p), dot(m.rows[1], p), dot(m.rows[2], p), dot(m.rows[3], p)); }

__device__ Varyings given(const Vertex &in)
{
    return {make_float4(in.color[0], in.color[1], in.color[2], in.color[3]), make_float2(in.uv[0], in.uv[1])};
}

__global__ void placed(VertexStage<Vertex, Varyings> stage)
{
    Vertex in = stage.in();
    stage.out(place(in), given(in));
}
SHADER(placed)

// The color is worked out at length.
__global__ void waved(VertexStage<Vertex, Varyings> stage, int steps)
{
    Vertex in = stage.in();
    Varyings out = given(in);
    float x = in.position[0], y = in.position[1], sum = 0;
    for (int k = 0; k < steps; k++) {
        x = .5f * x + .3f * y + .1f;
        y = .4f * y - .25f * x + .05f;
        sum += x * y;
    }
    out.color.x += sum;
    stage.out(place(in), out);
}
SHADER(waved)

// `uv` is where the light sees the point, and the color's last channel its depth there.
__global__ void seen(VertexStage<Vertex, Varyings> stage, Matrix light)
{
    Vertex in = stage.in();
    Varyings out = given(in);
    float4 at = times(light, place(in));
    out.uv = make_float2(.5f + .5f * at.x, .5f - .5f * at.y);
    out.color.w = at.z;
    stage.out(place(in), out);
}
SHADER(seen)

__global__ void lighted(VertexStage<Vertex, Varyings> stage, Matrix light)
{
    Vertex in = stage.in();
    stage.out(times(light, place(in)), given(in));
}
SHADER(lighted)

// All edges of a patch are cut into `level` parts.
__global__ void leveled(HullStage<Varyings, Varyings, 4> stage, float level)
{
    unsigned point = stage.point();
    stage.out(stage.position(point), stage.in(point));
    if (point != 0)
        return;
    for (int k = 0; k < 4; k++)
        stage.outer(k, level);
    for (int k = 0; k < 2; k++)
        stage.inner(k, level);
}
SHADER(leveled)

__device__ float between(float a, float b, float c, float d, float3 at)
{
    float lower = a + (b - a) * at.x, upper = d + (c - d) * at.x;
    return lower + (upper - lower) * at.y;
}

// A hill on each patch.
__global__ void hilly(DomainStage<Varyings, Varyings, 4> stage, float height)
{
    float3 at = stage.at();
    float4 a = stage.position(0), b = stage.position(1), c = stage.position(2), d = stage.position(3);
    float hill = 16 * at.x * (1 - at.x) * at.y * (1 - at.y);
    float x = between(a.x, b.x, c.x, d.x, at), y = between(a.y, b.y, c.y, d.y, at) + height * hill;
    stage.out(make_float4(x, y, a.z - .25f * hill, 1), {make_float4(at.x, at.y, hill, 1), make_float2(at.x, at.y)});
}
SHADER(hilly)

// Three squares around the middle of each triangle, `reach` away from it.
__global__ void scattered(GeometryStage<Varyings, Varyings, 12> stage, float reach)
{
    float4 a = stage.position(0), b = stage.position(1), c = stage.position(2);
    float x = (a.x + b.x + c.x) / 3, y = (a.y + b.y + c.y) / 3;
    for (int square = 0; square < 3; square++) {
        Varyings out = stage.in(square);
        for (int k = 0; k < 4; k++) {
            float right = (square - 1) * 2 + (k & 1), up = (square & 1) + (k >> 1);
            stage.emit(make_float4(x + right * reach, y + up * reach, a.z, 1), out);
        }
        stage.cut();
    }
}
SHADER(scattered)

__global__ void tinted(PixelStage<Varyings> stage) { stage.color(stage.in().color); }
SHADER(tinted)

__global__ void pondered(PixelStage<Varyings> stage, int steps)
{
    Varyings in = stage.in();
    float x = in.uv.x, y = in.uv.y, sum = 0;
    for (int k = 0; k < steps; k++) {
        x = .5f * x + .3f * y + .1f;
        y = .4f * y - .25f * x + .05f;
        sum += x * y;
    }
    stage.color(make_float4(in.color.x, in.color.y + sum, in.color.z, in.color.w));
}
SHADER(pondered)

// A round spot, soft at its rim.
__global__ void spotted(PixelStage<Varyings, DISCARDS> stage)
{
    Varyings in = stage.in();
    float x = 2 * in.uv.x - 1, y = 2 * in.uv.y - 1, inside = 1 - x * x - y * y;
    if (inside < 0)
        stage.discard();
    stage.color(make_float4(in.color.x, in.color.y, in.color.z, in.color.w * inside));
}
SHADER(spotted)

__global__ void pictured(PixelStage<Varyings> stage, cudaTextureObject_t picture) { stage.color(sample(picture, stage.in().uv)); }
SHADER(pictured)

__global__ void mixed(PixelStage<Varyings> stage, cudaTextureObject_t picture)
{
    Varyings in = stage.in();
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = 0; k < 8; k++) {
        float4 found = sample(picture, make_float2(in.uv.x * (1 + .25f * k) + .125f * k, in.uv.y * (1 + .25f * k)));
        sum = make_float4(sum.x + found.x * .125f, sum.y + found.y * .125f, sum.z + found.z * .125f, sum.w + found.w * .125f);
    }
    stage.color(sum);
}
SHADER(mixed)

__global__ void shadowed(PixelStage<Varyings> stage, cudaTextureObject_t depths)
{
    Varyings in = stage.in();
    float light = in.color.w > tex2DLod<float>(depths, in.uv.x, in.uv.y, 0) + .01f ? .25f : 1;
    stage.color(make_float4(in.color.x * light, in.color.y * light, in.color.z * light, 1));
}
SHADER(shadowed)

// Five texels in a row, weighted as the binomials of 4.
__global__ void blurred(PixelStage<Varyings> stage, cudaTextureObject_t picture, float right, float down)
{
    float2 uv = stage.in().uv;
    float4 sum = make_float4(0, 0, 0, 0);
    const float weights[5] = {.0625f, .25f, .375f, .25f, .0625f};
    for (int k = 0; k < 5; k++) {
        float4 found = tex2DLod<float4>(picture, uv.x + (k - 2) * right, uv.y + (k - 2) * down, 0);
        float weight = weights[k];
        sum = make_float4(sum.x + found.x * weight, sum.y + found.y * weight, sum.z + found.z * weight, sum.w + found.w * weight);
    }
    stage.color(sum);
}
SHADER(blurred)

__global__ void toned(PixelStage<Varyings> stage, cudaTextureObject_t picture)
{
    float2 uv = stage.in().uv;
    float4 found = tex2DLod<float4>(picture, uv.x, uv.y, 0);
    float dark = 1 - .5f * ((uv.x - .5f) * (uv.x - .5f) + (uv.y - .5f) * (uv.y - .5f));
    stage.color(make_float4(sqrtf(found.x) * dark, sqrtf(found.y) * dark, sqrtf(found.z) * dark, 1));
}
SHADER(toned)
