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

// One lane for each triangle. It makes strips of up to MOST vertices; what is more is left out.
template <typename In, typename Out, int MOST> struct GeometryStage {
    const unsigned *corners; // three lanes of the vertex shader for each triangle
    const float4 *given;
    const float *given_varyings;
    float4 *positions;
    float *varyings;
    unsigned char *marks; // of each vertex: 1 where a strip begins, 2 where it goes on
    unsigned given_lanes, lanes, count, goes_on;

    GPUPROF_STAGE unsigned corner(int k) const { return corners[3 * gpuprof::lane() + k]; }
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

struct shader_facts {
    unsigned stage, in_nbytes, out_words, abilities, most_vertices; // words of 4 bytes; stages: vertex, pixel, geometry
};

template <typename T> constexpr unsigned words_of()
{
    static_assert(sizeof(T) % 4 == 0 || __is_empty(T), "varyings are floats, alone or in vectors and structures");
    return sizeof(T) / 4; // an empty structure has one byte and no word
}

template <typename Kernel> struct facts_of;
template <typename In, typename Out, typename... Uniforms> struct facts_of<void(VertexStage<In, Out>, Uniforms...)> {
    static constexpr shader_facts value = {0, sizeof(In), words_of<Out>(), 0, 0};
};
template <typename In, int ABILITIES, typename... Uniforms> struct facts_of<void(PixelStage<In, ABILITIES>, Uniforms...)> {
    static constexpr shader_facts value = {1, words_of<In>() * 4, 0, ABILITIES, 0};
};
template <typename In, typename Out, int MOST, typename... Uniforms> struct facts_of<void(GeometryStage<In, Out, MOST>, Uniforms...)> {
    static constexpr shader_facts value = {2, words_of<In>() * 4, words_of<Out>(), 0, MOST};
};

} // namespace gpuprof

// Marks a kernel as a shader: `Pipeline` asks the module for these facts.
#define SHADER(name) extern "C" __device__ __attribute__((used)) gpuprof::shader_facts gpuprof_shader_##name = gpuprof::facts_of<decltype(name)>::value;
