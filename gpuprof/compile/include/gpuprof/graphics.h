// Entry points of a graphics pipeline (docs/graphics.md). A shader is an ordinary kernel whose first parameter is its stage, marked by SHADER.
//
//     struct Vertex { float3 position; float2 uv; };
//     struct Varyings { float2 uv; };
//
//     __global__ void transform(VertexStage<Vertex, Varyings> stage, Matrix camera)
//     {
//         Vertex in = stage.in();
//         stage.out(times(camera, in.position), {in.uv});
//     }
//     SHADER(transform)
//
//     __global__ void textured(PixelStage<Varyings> stage, cudaTextureObject_t picture)
//     {
//         stage.color(sample(picture, stage.in().uv));
//     }
//     SHADER(textured)
//
// Varyings are floats, alone or in vectors and structures. Lanes 4k to 4k + 3 of a pixel kernel are a quad: left and right of the upper row,
// then of the lower one. All four run; those outside of the triangle are helpers, whose colors go nowhere.
#pragma once

#define GPUPROF_STAGE __device__ __forceinline__

// What a pixel shader may do besides giving colors. Depth and stencil are tested after it then.
enum PixelAbilities { DISCARDS = 1, WRITES_DEPTH = 2 };

namespace gpuprof {

template <typename T> GPUPROF_STAGE T read_words(const float *words, unsigned lane, unsigned lanes)
{
    T value;
#pragma unroll
    for (unsigned k = 0; k < sizeof(T) / 4; k++)
        reinterpret_cast<float *>(&value)[k] = words[(size_t)k * lanes + lane];
    return value;
}

template <typename T> GPUPROF_STAGE void write_words(float *words, unsigned lane, unsigned lanes, const T &value)
{
#pragma unroll
    for (unsigned k = 0; k < sizeof(T) / 4; k++)
        words[(size_t)k * lanes + lane] = reinterpret_cast<const float *>(&value)[k];
}

GPUPROF_STAGE unsigned lane() { return blockIdx.x * blockDim.x + threadIdx.x; }

} // namespace gpuprof

template <typename In, typename Out> struct VertexStage {
    const In *vertices;
    const unsigned *numbers; // of each lane's vertex in its buffer
    float4 *positions;
    float *varyings; // word by word, each of all lanes
    unsigned lanes, lanes_of_instance, instances, padding;

    GPUPROF_STAGE unsigned vertex() const { return numbers[gpuprof::lane()]; }
    // Lanes that are left over at the end have the last instance.
    GPUPROF_STAGE unsigned instance() const { return min(gpuprof::lane() / lanes_of_instance, instances - 1); }
    GPUPROF_STAGE In in() const { return vertices[vertex()]; }
    // The position is in clip space: x and y from -w to w, y upwards, z from 0 to w.
    GPUPROF_STAGE void out(float4 position, const Out &out = Out()) const
    {
        positions[gpuprof::lane()] = position;
        gpuprof::write_words(varyings, gpuprof::lane(), lanes, out);
    }
};

// What a geometry shader takes and makes: corners of a primitive, with its neighbours or without.
enum { OF_POINTS = 1, OF_LINES = 2, OF_TRIANGLES = 3, OF_LINES_ADJACENCY = 4, OF_TRIANGLES_ADJACENCY = 6 };

namespace gpuprof {

struct nothing {};

// Patches lie side by side in the warps of a hull shader. Lanes that are left over at a warp's end have the patch before
// them; what they give goes to rows that nobody reads.
template <int POINTS> struct patch_rows {
    static constexpr unsigned OF_WARP = 32 / POINTS, SLOTS = (32 + POINTS - 1) / POINTS;
    static GPUPROF_STAGE unsigned patch(unsigned lane)
    {
        unsigned place = lane % 32 / POINTS;
        return lane / 32 * OF_WARP + (place < OF_WARP ? place : OF_WARP - 1);
    }
    static GPUPROF_STAGE unsigned slot(unsigned lane) { return lane / 32 * SLOTS + lane % 32 / POINTS; }
};

} // namespace gpuprof

// One lane for each of the COUNT control points that a patch gets. A patch's lanes are in one warp, side by side.
template <typename In, typename Out, int COUNT, typename Constants = gpuprof::nothing> struct HullStage {
    static_assert(1 <= COUNT && COUNT <= 32, "a patch has 1 to 32 control points");
    using rows = gpuprof::patch_rows<COUNT>;
    const unsigned *corners; // the lanes of the vertex shader, for each patch
    const float4 *given;
    const float *given_varyings;
    float4 *positions;
    float *varyings;
    float *levels; // word by word: four of the edges, two of the inside
    float *of_patches;
    unsigned given_lanes, lanes, patches, corners_of_patch, slots, padding;

    GPUPROF_STAGE unsigned point() const { return gpuprof::lane() % 32 % COUNT; }
    GPUPROF_STAGE unsigned patch() const { return min(rows::patch(gpuprof::lane()), patches - 1); }
    // Corner k of the patch, as the vertex shader gave it.
    GPUPROF_STAGE unsigned corner(unsigned k) const { return corners[(size_t)patch() * corners_of_patch + k]; }
    GPUPROF_STAGE float4 position(unsigned k) const { return given[corner(k)]; }
    GPUPROF_STAGE In in(unsigned k) const { return gpuprof::read_words<In>(given_varyings, corner(k), given_lanes); }
    GPUPROF_STAGE void out(float4 position, const Out &out = Out()) const
    {
        positions[gpuprof::lane()] = position;
        gpuprof::write_words(varyings, gpuprof::lane(), lanes, out);
    }
    // Into how many parts edge k and the inside are cut. Of any lane of the patch; those that nobody gives are 0, and a patch
    // with an edge of 0 is not drawn.
    GPUPROF_STAGE void outer(unsigned k, float level) const { levels[(size_t)k * slots + rows::slot(gpuprof::lane())] = level; }
    GPUPROF_STAGE void inner(unsigned k, float level) const { outer(4 + k, level); }
    GPUPROF_STAGE void constants(const Constants &value) const { gpuprof::write_words(of_patches, rows::slot(gpuprof::lane()), slots, value); }
};

// One lane for each vertex that the tessellator makes of a patch with COUNT control points.
template <typename In, typename Out, int COUNT, typename Constants = gpuprof::nothing> struct DomainStage {
    using rows = gpuprof::patch_rows<COUNT>;
    const float2 *places;
    const unsigned *patch_numbers;
    const float4 *given;
    const float *given_varyings;
    const float *of_patches;
    float4 *positions;
    float *varyings;
    unsigned given_lanes, lanes, slots, padding;

    GPUPROF_STAGE unsigned patch() const { return patch_numbers[gpuprof::lane()]; }
    GPUPROF_STAGE unsigned first() const { return patch() / rows::OF_WARP * 32 + patch() % rows::OF_WARP * COUNT; }
    // In the domain: u and v from 0 to 1, and 1 - u - v, which is a triangle's third coordinate.
    GPUPROF_STAGE float3 at() const
    {
        float2 place = places[gpuprof::lane()];
        return make_float3(place.x, place.y, 1 - place.x - place.y);
    }
    GPUPROF_STAGE float4 position(unsigned k) const { return given[first() + k]; }
    GPUPROF_STAGE In in(unsigned k) const { return gpuprof::read_words<In>(given_varyings, first() + k, given_lanes); }
    GPUPROF_STAGE Constants constants() const { return gpuprof::read_words<Constants>(of_patches, rows::slot(first()), slots); }
    GPUPROF_STAGE void out(float4 position, const Out &out = Out()) const
    {
        positions[gpuprof::lane()] = position;
        gpuprof::write_words(varyings, gpuprof::lane(), lanes, out);
    }
};

// One lane for each primitive, which FROM says. It makes points, or strips of lines or triangles, of up to MOST vertices;
// what is more is left out.
template <typename In, typename Out, int MOST, int FROM = OF_TRIANGLES, int TO = OF_TRIANGLES> struct GeometryStage {
    static_assert(TO <= OF_TRIANGLES, "a geometry shader makes OF_POINTS, OF_LINES or OF_TRIANGLES");
    const unsigned *corners; // lanes of the shader before, for each primitive
    const float4 *given;
    const float *given_varyings;
    float4 *positions;
    float *varyings;
    unsigned char *marks; // of each vertex: 1 where a strip begins, 2 where it goes on
    unsigned given_lanes, lanes, count, goes_on;

    GPUPROF_STAGE unsigned corner(int k) const { return corners[FROM * gpuprof::lane() + k]; }
    GPUPROF_STAGE float4 position(int k) const { return given[corner(k)]; }
    GPUPROF_STAGE In in(int k) const { return gpuprof::read_words<In>(given_varyings, corner(k), given_lanes); }
    GPUPROF_STAGE void emit(float4 position, const Out &out = Out())
    {
        if (count == MOST)
            return;
        unsigned at = gpuprof::lane() * MOST + count++;
        positions[at] = position;
        gpuprof::write_words(varyings, at, lanes, out);
        marks[at] = 1 + goes_on;
        goes_on = 1;
    }
    // The next vertex begins a strip.
    GPUPROF_STAGE void cut() { goes_on = 0; }
};

template <typename In, int ABILITIES = 0> struct PixelStage {
    const float *varyings; // word by word, each of all lanes
    const float4 *places;
    const unsigned *facts; // the primitive's number times two, and whether it is seen from the front
    float4 *colors;        // target by target, each of all lanes
    float *depths;
    unsigned char *discarded;
    unsigned lanes, padding;

    GPUPROF_STAGE In in() const { return gpuprof::read_words<In>(varyings, gpuprof::lane(), lanes); }
    // In the target: x and y of the pixel's middle, z as it is tested, and 1 / w.
    GPUPROF_STAGE float4 place() const { return places[gpuprof::lane()]; }
    GPUPROF_STAGE unsigned primitive() const { return facts[gpuprof::lane()] >> 1; }
    GPUPROF_STAGE bool is_front() const { return facts[gpuprof::lane()] & 1; }
    GPUPROF_STAGE void color(float4 color, unsigned target = 0) const { colors[(size_t)target * lanes + gpuprof::lane()] = color; }
    // The pixel stays as it is. The lane runs on, as a helper of its quad.
    GPUPROF_STAGE void discard() const
    {
        static_assert(ABILITIES & DISCARDS, "a shader that discards has a PixelStage<Varyings, DISCARDS>");
        discarded[gpuprof::lane()] = 1;
    }
    GPUPROF_STAGE void depth(float depth) const
    {
        static_assert(ABILITIES & WRITES_DEPTH, "a shader that writes depth has a PixelStage<Varyings, WRITES_DEPTH>");
        depths[gpuprof::lane()] = depth;
    }
};

// Derivatives over a quad, to the right and downwards. All four lanes of the quad have to come here.
GPUPROF_STAGE float ddx(float value)
{
    float other = __shfl_xor_sync(__activemask(), value, 1);
    return threadIdx.x & 1 ? value - other : other - value;
}
GPUPROF_STAGE float ddy(float value)
{
    float other = __shfl_xor_sync(__activemask(), value, 2);
    return threadIdx.x & 2 ? value - other : other - value;
}
GPUPROF_STAGE float2 ddx(float2 value) { return make_float2(ddx(value.x), ddx(value.y)); }
GPUPROF_STAGE float2 ddy(float2 value) { return make_float2(ddy(value.x), ddy(value.y)); }

// A texture with normalized coordinates, at the level of detail that the quad's derivatives say.
GPUPROF_STAGE float4 sample(cudaTextureObject_t texture, float2 at)
{
    return tex2DGrad<float4>(texture, at.x, at.y, ddx(at), ddy(at));
}

namespace gpuprof {

// words of 4 bytes; stages: vertex, hull, domain, geometry, pixel
struct shader_facts {
    unsigned stage, in_nbytes, out_words, abilities, most_vertices, corners_in, corners_out, constant_words;
};

template <typename T> constexpr unsigned words_of()
{
    static_assert(sizeof(T) % 4 == 0 || __is_empty(T), "varyings are floats, alone or in vectors and structures");
    return sizeof(T) / 4; // an empty structure has one byte and no word
}

template <typename Kernel> struct facts_of;
template <typename In, typename Out, typename... Uniforms> struct facts_of<void(VertexStage<In, Out>, Uniforms...)> {
    static constexpr shader_facts value = {0, sizeof(In), words_of<Out>(), 0, 0, 0, 0, 0};
};
template <typename In, typename Out, int COUNT, typename Constants, typename... Uniforms>
struct facts_of<void(HullStage<In, Out, COUNT, Constants>, Uniforms...)> {
    static constexpr shader_facts value = {1, words_of<In>() * 4, words_of<Out>(), 0, 0, 0, COUNT, words_of<Constants>()};
};
template <typename In, typename Out, int COUNT, typename Constants, typename... Uniforms>
struct facts_of<void(DomainStage<In, Out, COUNT, Constants>, Uniforms...)> {
    static constexpr shader_facts value = {2, words_of<In>() * 4, words_of<Out>(), 0, 0, COUNT, 0, words_of<Constants>()};
};
template <typename In, typename Out, int MOST, int FROM, int TO, typename... Uniforms>
struct facts_of<void(GeometryStage<In, Out, MOST, FROM, TO>, Uniforms...)> {
    static constexpr shader_facts value = {3, words_of<In>() * 4, words_of<Out>(), 0, MOST, FROM, TO, 0};
};
template <typename In, int ABILITIES, typename... Uniforms> struct facts_of<void(PixelStage<In, ABILITIES>, Uniforms...)> {
    static constexpr shader_facts value = {4, words_of<In>() * 4, 0, ABILITIES, 0, 0, 0, 0};
};

} // namespace gpuprof

// Marks a kernel as a shader: `Pipeline` asks the module for these facts.
#define SHADER(name) extern "C" __device__ __attribute__((used)) gpuprof::shader_facts gpuprof_shader_##name = gpuprof::facts_of<decltype(name)>::value;
