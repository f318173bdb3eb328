// Patches of three or four control points, whose levels the script gives; their vertices are those of shaders.cu.
#include <gpuprof/graphics.h>

struct Vertex {
    float position[4], color[4], uv[2];
};

struct Varyings {
    float4 color;
};

struct Shade {
    float red;
};

__global__ void placed(VertexStage<Vertex, Varyings> stage)
{
    Vertex in = stage.in();
    Varyings out = {make_float4(in.color[0], in.color[1], in.color[2], in.color[3])};
    stage.out(make_float4(in.position[0], in.position[1], in.position[2], in.position[3]), out);
}
SHADER(placed)

__global__ void tinted(PixelStage<Varyings> stage) { stage.color(stage.in().color); }
SHADER(tinted)

// Six levels for each patch: of the edges, then of the inside.
template <typename Stage> __device__ void level(const Stage &stage, const float *levels, const float *reds)
{
    unsigned patch = stage.patch(), point = stage.point();
    stage.out(stage.position(point), stage.in(point));
    if (point != 0)
        return;
    for (int k = 0; k < 4; k++)
        stage.outer(k, levels[patch * 6 + k]);
    stage.inner(0, levels[patch * 6 + 4]);
    stage.inner(1, levels[patch * 6 + 5]);
    stage.constants({reds[patch]});
}

__global__ void three(HullStage<Varyings, Varyings, 3, Shade> stage, const float *levels, const float *reds) { level(stage, levels, reds); }
SHADER(three)

__global__ void four(HullStage<Varyings, Varyings, 4, Shade> stage, const float *levels, const float *reds) { level(stage, levels, reds); }
SHADER(four)

// Where the flat patch lies, and moved inwards by what is 0 at its edges.
__global__ void bent(DomainStage<Varyings, Varyings, 3, Shade> stage, float bend)
{
    float3 at = stage.at();
    float4 a = stage.position(0), b = stage.position(1), c = stage.position(2);
    float moved = bend * at.x * at.y * at.z;
    float4 p = make_float4(a.x * at.x + b.x * at.y + c.x * at.z + moved, a.y * at.x + b.y * at.y + c.y * at.z, a.z, 1);
    stage.out(p, {make_float4(stage.constants().red, at.x, at.y, 1)});
}
SHADER(bent)

__device__ float mixed(float a, float b, float c, float d, float3 at)
{
    float lower = a + (b - a) * at.x, upper = d + (c - d) * at.x;
    return lower + (upper - lower) * at.y;
}

__global__ void bowed(DomainStage<Varyings, Varyings, 4, Shade> stage, float bend)
{
    float3 at = stage.at();
    float4 a = stage.position(0), b = stage.position(1), c = stage.position(2), d = stage.position(3);
    float moved = bend * at.x * (1 - at.x) * at.y * (1 - at.y);
    float4 p = make_float4(mixed(a.x, b.x, c.x, d.x, at) + moved, mixed(a.y, b.y, c.y, d.y, at) - moved, a.z, 1);
    stage.out(p, {make_float4(stage.constants().red, at.x, at.y, 1)});
}
SHADER(bowed)

__global__ void marked(GeometryStage<Varyings, Varyings, 3> stage)
{
    for (int k = 0; k < 3; k++)
        stage.emit(stage.position(k), stage.in(k));
}
SHADER(marked)

__device__ float4 halfway(float4 a, float4 b) { return make_float4((a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2, 1); }

// Of a line between its neighbours, the middle.
__global__ void middle(GeometryStage<Varyings, Varyings, 1, OF_LINES_ADJACENCY, OF_POINTS> stage)
{
    stage.emit(halfway(stage.position(1), stage.position(2)), stage.in(1));
}
SHADER(middle)

// A line to the right, of half the width of the view.
__global__ void lined(GeometryStage<Varyings, Varyings, 2, OF_POINTS, OF_LINES> stage)
{
    float4 a = stage.position(0);
    stage.emit(a, stage.in(0));
    a.x += 1;
    stage.emit(a, stage.in(0));
}
SHADER(lined)
