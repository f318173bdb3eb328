// A few shaders, quick to load; their vertices are those of shaders.cu.
#include <gpuprof/graphics.h>

struct Vertex {
    float position[4], color[4], uv[2];
};

struct Varyings {
    float4 color;
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

// The triangle, and a copy of it.
__global__ void doubled(GeometryStage<Varyings, Varyings, 6> stage)
{
    for (int copy = 0; copy < 2; copy++) {
        for (int k = 0; k < 3; k++)
            stage.emit(stage.position(k), stage.in(k));
        stage.cut();
    }
}
SHADER(doubled)

__global__ void endless(PixelStage<Varyings> stage)
{
    float4 color = stage.in().color;
    while (color.x < 2)
        color.x = color.x * .5f;
    stage.color(color);
}
SHADER(endless)
