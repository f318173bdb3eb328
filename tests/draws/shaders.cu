#include <gpuprof/graphics.h>

struct Vertex {
    float position[4], color[4], uv[2];
};

struct Varyings {
    float color[4];
    float2 uv;
};

__global__ void placed(VertexStage<Vertex, Varyings> stage)
{
    Vertex in = stage.in();
    Varyings out = {{in.color[0], in.color[1], in.color[2], in.color[3]}, {in.uv[0], in.uv[1]}};
    stage.out(make_float4(in.position[0], in.position[1], in.position[2], in.position[3]), out);
}
SHADER(placed)

__device__ float4 tint(const Varyings &in) { return make_float4(in.color[0], in.color[1], in.color[2], in.color[3]); }

__global__ void tinted(PixelStage<Varyings> stage) { stage.color(tint(stage.in())); }
SHADER(tinted)

__global__ void checked(PixelStage<Varyings, DISCARDS> stage)
{
    float4 place = stage.place();
    if (((int)place.x / 3 + (int)place.y / 3) % 2)
        stage.discard();
    stage.color(tint(stage.in()));
}
SHADER(checked)

__global__ void deepened(PixelStage<Varyings, WRITES_DEPTH> stage)
{
    stage.depth(stage.place().z * .5f);
    stage.color(tint(stage.in()));
}
SHADER(deepened)

// Derivatives of the coordinates, to the right and downwards.
__global__ void steps(PixelStage<Varyings> stage)
{
    float2 uv = stage.in().uv, right = ddx(uv), down = ddy(uv);
    stage.color(make_float4(right.x, right.y, down.x, down.y));
}
SHADER(steps)

__global__ void pictured(PixelStage<Varyings> stage, cudaTextureObject_t picture) { stage.color(sample(picture, stage.in().uv)); }
SHADER(pictured)

// The primitive, its side, and the lane in its quad.
__global__ void told(PixelStage<Varyings> stage) { stage.color(make_float4(stage.primitive(), stage.is_front(), threadIdx.x & 3, 1)); }
SHADER(told)

__global__ void endless(PixelStage<Varyings> stage)
{
    float4 color = tint(stage.in());
    while (color.x < 2)
        color.x = color.x * .5f;
    stage.color(color);
}
SHADER(endless)

__global__ void two(PixelStage<Varyings> stage)
{
    float4 color = tint(stage.in());
    stage.color(color);
    stage.color(make_float4(color.y, color.x, 0, 1), 1);
}
SHADER(two)

__global__ void instanced(VertexStage<Vertex, Varyings> stage, const float *shifts)
{
    Vertex in = stage.in();
    Varyings out = {{in.color[0], in.color[1], in.color[2], in.color[3]}, {in.uv[0], in.uv[1]}};
    stage.out(make_float4(in.position[0] + shifts[stage.instance()], in.position[1], in.position[2], in.position[3]), out);
}
SHADER(instanced)

__global__ void unmarked(PixelStage<Varyings> stage) { stage.color(tint(stage.in())); }

// Each triangle becomes itself, smaller, and a strip of two beside it.
__global__ void grown(GeometryStage<Varyings, Varyings, 7> stage, float scale)
{
    float4 a = stage.position(0), b = stage.position(1), c = stage.position(2);
    float x = (a.x + b.x + c.x) / 3, y = (a.y + b.y + c.y) / 3;
    for (int k = 0; k < 3; k++) {
        float4 p = stage.position(k);
        stage.emit(make_float4(x + (p.x - x) * scale, y + (p.y - y) * scale, p.z, p.w), stage.in(k));
    }
    stage.cut();
    Varyings in = stage.in(0);
    if (in.color[0] < .3f)
        return;
    in.color[2] = 0;
    for (int k = 0; k < 4; k++)
        stage.emit(make_float4(x + (k & 1) * .125f, y + (k >> 1) * .0625f, .25f, 1), in);
}
SHADER(grown)
