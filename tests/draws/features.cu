// Shaders of varyings that are flat, points with a size and coordinates, clip distances, neighbours and instances.
#include <gpuprof/graphics.h>

struct Vertex {
    float position[4], color[4], uv[2];
};

struct Numbered {
    float shade;
    flat<unsigned> number;
    flat<int2> pair; // of 8 bytes, behind 4 of padding or not
    float2 uv;
};

__device__ float4 place(const Vertex &in) { return make_float4(in.position[0], in.position[1], in.position[2], in.position[3]); }

__global__ void numbered(VertexStage<Vertex, Numbered> stage)
{
    Vertex in = stage.in();
    int number = stage.vertex();
    stage.out(place(in), {in.color[0], (unsigned)number, make_int2(-number, 7 * number), make_float2(in.uv[0], in.uv[1])});
}
SHADER(numbered)

__global__ void by_number(PixelStage<Numbered> stage)
{
    Numbered in = stage.in();
    int2 pair = in.pair;
    stage.color(make_float4(in.number, pair.x, pair.y, in.shade));
}
SHADER(by_number)

// Each triangle, with the numbers of its three neighbours.
__global__ void surrounded(GeometryStage<Numbered, Numbered, 3, OF_TRIANGLES_ADJACENCY> stage)
{
    for (int k = 0; k < 3; k++) {
        int2 pair = make_int2(stage.in(3).number, stage.in(5).number);
        stage.emit(stage.position(2 * k), {stage.in(2 * k).shade, stage.in(1).number, pair, stage.in(2 * k).uv});
    }
}
SHADER(surrounded)

// A strip of two triangles for each, whose vertices have numbers of their own.
__global__ void stripped(GeometryStage<Numbered, Numbered, 4> stage)
{
    for (unsigned k = 0; k < 4; k++) {
        Numbered out = stage.in(k % 3);
        out.number = k;
        float4 at = stage.position(k % 3);
        stage.emit(k < 3 ? at : make_float4(-at.x, -at.y, at.z, at.w), out);
    }
}
SHADER(stripped)

struct Color {
    float4 color;
};

__device__ Color given(const Vertex &in) { return {make_float4(in.color[0], in.color[1], in.color[2], in.color[3])}; }

__global__ void sized(VertexStage<Vertex, Color, POINT_SIZE> stage)
{
    Vertex in = stage.in();
    stage.point_size(in.uv[0]);
    stage.out(place(in), given(in));
}
SHADER(sized)

__global__ void dotted(PixelStage<Color, POINT_COORDINATES> stage)
{
    float2 at = stage.point();
    stage.color(make_float4(at.x, at.y, stage.in().color.z, 1));
}
SHADER(dotted)

__global__ void tinted(PixelStage<Color> stage) { stage.color(stage.in().color); }
SHADER(tinted)

__global__ void halved(VertexStage<Vertex, Color, CLIP_DISTANCES * 2> stage)
{
    Vertex in = stage.in();
    for (unsigned k = 0; k < 2; k++)
        stage.clip(k, in.uv[k]);
    stage.out(place(in), given(in));
}
SHADER(halved)

// A point for each corner, of its size, that is cut off by a distance.
__global__ void spread(GeometryStage<Color, Color, 3, OF_TRIANGLES, OF_POINTS, POINT_SIZE | CLIP_DISTANCES> stage)
{
    for (int k = 0; k < 3; k++) {
        stage.point_size(2 * k + 1);
        stage.clip(0, 1.5f - k);
        stage.emit(stage.position(k), stage.in(k));
    }
}
SHADER(spread)

// Attributes of instances: an array that the instance's number is an index of.
__global__ void moved(VertexStage<Vertex, Color> stage, const float *shifts)
{
    Vertex in = stage.in();
    float4 at = place(in);
    stage.out(make_float4(at.x + shifts[stage.instance()], at.y, at.z, at.w), given(in));
}
SHADER(moved)

__global__ void plain(VertexStage<Vertex, Color> stage)
{
    Vertex in = stage.in();
    stage.out(place(in), given(in));
}
SHADER(plain)

// The target is known when it runs.
__global__ void far(PixelStage<Color> stage, unsigned target) { stage.color(stage.in().color, target); }
SHADER(far)

// Numbers of a draw, from the GPU itself.
__global__ void decide(unsigned *record, unsigned count, unsigned instances, unsigned first)
{
    record[0] = count;
    record[1] = instances;
    record[2] = first;
    record[3] = 1;
}
