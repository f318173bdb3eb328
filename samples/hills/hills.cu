// Hills: square patches, cut finer where they are nearer, and moved up and down.
#include <gpuprof/graphics.h>

struct Corner {
    float x, z;
};

struct Nothing {};

struct Lit {
    float height, light;
};

struct Camera {
    float row[4][4];
};

__device__ float height(float x, float z) { return .3f * sinf(1.7f * x) * cosf(1.3f * z) + .1f * sinf(5 * x + 2 * z); }

// A patch's corners stay in the world until they are cut.
__global__ void placed(VertexStage<Corner, Nothing> stage)
{
    Corner in = stage.in();
    stage.out(make_float4(in.x, 0, in.z, 1));
}
SHADER(placed)

// Both patches at an edge have the same level there, so there is no gap between them.
__device__ float level(float4 a, float4 b, float detail)
{
    float x = (a.x + b.x) / 2, z = (a.z + b.z) / 2 + 4;
    return detail / sqrtf(x * x + z * z);
}

__global__ void leveled(HullStage<Nothing, Nothing, 4> stage, float detail)
{
    unsigned k = stage.point();
    stage.out(stage.position(k));
    // each lane gives the level of one edge: from corner k back to the one before it
    float4 here = stage.position(k), before = stage.position((k + 3) % 4);
    stage.outer(k, level(here, before, detail));
    if (k < 2)
        stage.inner(k, level(stage.position(0), stage.position(2), detail));
}
SHADER(leveled)

__global__ void moved(DomainStage<Nothing, Lit, 4> stage, Camera camera)
{
    float3 at = stage.at();
    float4 a = stage.position(0), c = stage.position(2);
    float x = a.x + (c.x - a.x) * at.x, z = a.z + (c.z - a.z) * at.y, y = height(x, z);
    float slope_x = (height(x + .01f, z) - y) * 100, slope_z = (height(x, z + .01f) - y) * 100;
    float p[4];
    for (int k = 0; k < 4; k++)
        p[k] = camera.row[k][0] * x + camera.row[k][1] * y + camera.row[k][2] * z + camera.row[k][3];
    float light = (.8f - .5f * slope_x + .3f * slope_z) / sqrtf(1 + slope_x * slope_x + slope_z * slope_z);
    stage.out(make_float4(p[0], p[1], p[2], p[3]), {y, light});
}
SHADER(moved)

__global__ void painted(PixelStage<Lit> stage)
{
    Lit in = stage.in();
    float snow = fminf(fmaxf(in.height * 4, 0), 1), light = fmaxf(in.light, .1f);
    stage.color(make_float4(light * (.2f + .7f * snow), light * (.5f + .4f * snow), light * (.2f + .7f * snow), 1));
}
SHADER(painted)
