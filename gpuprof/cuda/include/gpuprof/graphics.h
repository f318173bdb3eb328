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
// Varyings are floats and flat<T>, single or in vectors, arrays and structures. Lanes 4k to 4k + 3 of a pixel kernel are a quad: left and right of the upper row,
// then of the lower one. All four run; those outside of the triangle are helpers, whose colors go nowhere.
#pragma once

#define GPUPROF_STAGE __device__ __forceinline__

// What a shader does in addition to its results, as its stage's ABILITIES. A pixel shader discards or gives its depth, so that depth and stencil
// are tested after it, or asks where in a point it is. The last shader before it gives sizes of points, and CLIP_DISTANCES * n distances.
enum Abilities { DISCARDS = 1, WRITES_DEPTH = 2, POINT_COORDINATES = 4, POINT_SIZE = 8, CLIP_DISTANCES = 16 };

// A varying that is not interpolated: pixels have that of their primitive's provoking vertex. Integers are flat.
template <typename T> struct flat {
    static_assert(sizeof(T) % 4 == 0, "a flat varying has a multiple of 4 bytes");
    T value;
    flat() = default;
    GPUPROF_STAGE constexpr flat(T given) : value(given) {}
    GPUPROF_STAGE constexpr operator T() const { return value; }
};

// The shader does not compile with an index that is known there and too large; one that is known only when it runs stops it.
#define GPUPROF_BELOW(index, limit, message) __attribute__((diagnose_if((index) >= (limit), message, "error")))
#define GPUPROF_CHECK(condition, message) ((condition) ? (void)0 : __assertfail(message, "gpuprof/graphics.h", __LINE__, __func__, 1))

namespace gpuprof {

constexpr unsigned MOST_TARGETS = 8, MOST_POINTS = 32, MOST_WORDS = 128;

// Of varyings: bit k says that word k is flat.
struct word_set {
    unsigned bits[MOST_WORDS / 32];
    constexpr void add(unsigned first, unsigned count)
    {
        for (unsigned k = first; k < first + count && k < MOST_WORDS; k++)
            bits[k / 32] |= 1u << k % 32;
    }
};

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++26-extensions"
template <typename... Members> struct members {};
template <typename T> auto members_of(T &value)
{
    auto &[... each] = value;
    return members<__remove_cvref(decltype(each))...>();
}
#pragma clang diagnostic pop
template <typename T, typename = void> constexpr bool has_members = false;
template <typename T> constexpr bool has_members<T, decltype((void)__builtin_structured_binding_size(T))> = __is_class(T);

// Adds the words of a T that begins at byte `at` of varyings.
template <typename T> struct flat_words {
    static constexpr void add(word_set &found, unsigned at)
    {
        static_assert(__is_class(T) || __is_union(T) || __is_same(T, float), "a varying is a float, or flat: write flat<int>");
        if constexpr (has_members<T>) {
            if constexpr (__builtin_structured_binding_size(T) > 0)
                add_each(found, at, decltype(members_of(*(T *)0))());
        }
    }
    template <typename... Members> static constexpr void add_each(word_set &found, unsigned at, members<Members...>)
    {
        unsigned end = 0; // of the member before
        ((end = (end + alignof(Members) - 1) / alignof(Members) * alignof(Members), flat_words<Members>::add(found, at + end),
          end += sizeof(Members)),
         ...);
    }
};
template <typename T, unsigned long COUNT> struct flat_words<T[COUNT]> {
    static constexpr void add(word_set &found, unsigned at)
    {
        for (unsigned k = 0; k < COUNT; k++)
            flat_words<T>::add(found, at + k * sizeof(T));
    }
};
template <typename T> struct flat_words<flat<T>> {
    static constexpr void add(word_set &found, unsigned at) { found.add(at / 4, sizeof(T) / 4); }
};

template <typename T> constexpr word_set flat_words_of()
{
    word_set found = {};
    flat_words<T>::add(found, 0);
    return found;
}

template <typename T> constexpr unsigned words_of()
{
    static_assert(sizeof(T) % 4 == 0 || __is_empty(T), "varyings have words of 4 bytes: floats and flat<T>, single or in vectors, arrays and structures");
    (void)flat_words_of<T>();
    return sizeof(T) / 4; // an empty structure has one byte and no word
}

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

// What the last shader before the pixels gives in addition to its varyings: a point's size and distances follow in rows of their own.
template <typename Out, int ABILITIES> struct more_rows {
    static constexpr unsigned SIZE = words_of<Out>(), DISTANCES = SIZE + (ABILITIES & POINT_SIZE ? 1 : 0), COUNT = ABILITIES / CLIP_DISTANCES;
    static_assert(COUNT <= 8, "there are up to 8 clip distances");
    static GPUPROF_STAGE void size(float *rows, unsigned lane, unsigned lanes, float pixels)
    {
        static_assert(ABILITIES & POINT_SIZE, "a shader that gives sizes of points has POINT_SIZE among its stage's abilities");
        rows[(size_t)SIZE * lanes + lane] = pixels;
    }
    static GPUPROF_STAGE void distance(float *rows, unsigned lane, unsigned lanes, unsigned k, float value)
    {
        static_assert(COUNT, "a shader that gives n clip distances has CLIP_DISTANCES * n among its stage's abilities");
        GPUPROF_CHECK(k < COUNT, "stage.clip(k, distance) with k below the n of CLIP_DISTANCES * n");
        rows[(size_t)(DISTANCES + k) * lanes + lane] = value;
    }
};

} // namespace gpuprof

template <typename In, typename Out, int ABILITIES = 0> struct VertexStage {
    using more = gpuprof::more_rows<Out, ABILITIES>;
    const In *vertices;
    const unsigned *numbers; // of each lane's vertex in its buffer
    float4 *positions;
    float *varyings; // word by word, each of all lanes
    unsigned lanes, lanes_of_instance, instances, first_instance;

    GPUPROF_STAGE unsigned vertex() const { return numbers[gpuprof::lane()]; }
    // From the draw's first instance on. Lanes that are left over at the end have the last one.
    GPUPROF_STAGE unsigned instance() const { return first_instance + min(gpuprof::lane() / lanes_of_instance, instances - 1); }
    GPUPROF_STAGE In in() const { return vertices[vertex()]; }
    // The position is in clip space: x and y from -w to w, y upwards, z from 0 to w.
    GPUPROF_STAGE void out(float4 position, const Out &out = Out()) const
    {
        positions[gpuprof::lane()] = position;
        gpuprof::write_words(varyings, gpuprof::lane(), lanes, out);
    }
    // What the vertex has in addition to its position: a point's side in pixels, and where the view is cut: distances of 0 and above are inside.
    GPUPROF_STAGE void point_size(float pixels) const { more::size(varyings, gpuprof::lane(), lanes, pixels); }
    GPUPROF_STAGE void clip(unsigned k, float distance) const
        GPUPROF_BELOW(k, more::COUNT, "stage.clip(k, distance) with k below the n of CLIP_DISTANCES * n")
    {
        more::distance(varyings, gpuprof::lane(), lanes, k, distance);
    }
};

// What a geometry shader takes and makes: corners of a primitive, with its neighbours or without.
enum { OF_POINTS = 1, OF_LINES = 2, OF_TRIANGLES = 3, OF_LINES_ADJACENCY = 4, OF_TRIANGLES_ADJACENCY = 6 };

namespace gpuprof {

struct nothing {};

// Patches lie side by side in the warps of a hull shader. Lanes that are left over at a warp's end have the patch before
// them; what they give goes to rows that are never read.
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
    GPUPROF_STAGE float4 position(unsigned k) const GPUPROF_BELOW(k, gpuprof::MOST_POINTS, "a patch has corners 0 to 31 at most")
    {
        return given[corner(k)];
    }
    GPUPROF_STAGE In in(unsigned k) const GPUPROF_BELOW(k, gpuprof::MOST_POINTS, "a patch has corners 0 to 31 at most")
    {
        return gpuprof::read_words<In>(given_varyings, corner(k), given_lanes);
    }
    GPUPROF_STAGE void out(float4 position, const Out &out = Out()) const
    {
        positions[gpuprof::lane()] = position;
        gpuprof::write_words(varyings, gpuprof::lane(), lanes, out);
    }
    // Into how many parts edge k and the inside are cut. Of any lane of the patch; those that are not given are 0, and a patch
    // with an edge of 0 is not drawn.
    GPUPROF_STAGE void outer(unsigned k, float level) const GPUPROF_BELOW(k, 4, "a patch has outer levels 0 to 3")
    {
        GPUPROF_CHECK(k < 4, "stage.outer(k, level) with k from 0 to 3");
        at_level(k) = level;
    }
    GPUPROF_STAGE void inner(unsigned k, float level) const GPUPROF_BELOW(k, 2, "a patch has inner levels 0 and 1")
    {
        GPUPROF_CHECK(k < 2, "stage.inner(k, level) with k of 0 or 1");
        at_level(4 + k) = level;
    }
    GPUPROF_STAGE float &at_level(unsigned k) const { return levels[(size_t)k * slots + rows::slot(gpuprof::lane())]; }
    GPUPROF_STAGE void constants(const Constants &value) const { gpuprof::write_words(of_patches, rows::slot(gpuprof::lane()), slots, value); }
};

// One lane for each vertex that the tessellator makes of a patch with COUNT control points.
template <typename In, typename Out, int COUNT, typename Constants = gpuprof::nothing, int ABILITIES = 0> struct DomainStage {
    using rows = gpuprof::patch_rows<COUNT>;
    using more = gpuprof::more_rows<Out, ABILITIES>;
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
    GPUPROF_STAGE unsigned control(unsigned k) const
    {
        GPUPROF_CHECK(k < COUNT, "stage.position(k) and stage.in(k) with k below the COUNT of DomainStage");
        return first() + k;
    }
    GPUPROF_STAGE float4 position(unsigned k) const GPUPROF_BELOW(k, COUNT, "a patch has control points below the COUNT of DomainStage")
    {
        return given[control(k)];
    }
    GPUPROF_STAGE In in(unsigned k) const GPUPROF_BELOW(k, COUNT, "a patch has control points below the COUNT of DomainStage")
    {
        return gpuprof::read_words<In>(given_varyings, control(k), given_lanes);
    }
    GPUPROF_STAGE Constants constants() const { return gpuprof::read_words<Constants>(of_patches, rows::slot(first()), slots); }
    GPUPROF_STAGE void out(float4 position, const Out &out = Out()) const
    {
        positions[gpuprof::lane()] = position;
        gpuprof::write_words(varyings, gpuprof::lane(), lanes, out);
    }
    // What the vertex has in addition to its position: a point's side in pixels, and where the view is cut: distances of 0 and above are inside.
    GPUPROF_STAGE void point_size(float pixels) const { more::size(varyings, gpuprof::lane(), lanes, pixels); }
    GPUPROF_STAGE void clip(unsigned k, float distance) const
        GPUPROF_BELOW(k, more::COUNT, "stage.clip(k, distance) with k below the n of CLIP_DISTANCES * n")
    {
        more::distance(varyings, gpuprof::lane(), lanes, k, distance);
    }
};

// One lane for each primitive, which FROM says. It makes points, or strips of lines or triangles, of up to MOST vertices;
// what is more is left out.
template <typename In, typename Out, int MOST, int FROM = OF_TRIANGLES, int TO = OF_TRIANGLES, int ABILITIES = 0> struct GeometryStage {
    using more = gpuprof::more_rows<Out, ABILITIES>;
    static_assert(TO <= OF_TRIANGLES, "a geometry shader makes OF_POINTS, OF_LINES or OF_TRIANGLES");
    const unsigned *corners; // lanes of the shader before, for each primitive
    const float4 *given;
    const float *given_varyings;
    float4 *positions;
    float *varyings;
    unsigned char *marks; // of each vertex: 1 where a strip begins, 2 where it continues
    unsigned given_lanes, lanes, count, goes_on;

    GPUPROF_STAGE unsigned corner(int k) const
    {
        GPUPROF_CHECK((unsigned)k < FROM, "stage.position(k) and stage.in(k) with k below the FROM of GeometryStage");
        return corners[FROM * gpuprof::lane() + k];
    }
    GPUPROF_STAGE float4 position(int k) const GPUPROF_BELOW((unsigned)k, FROM, "a primitive has corners below the FROM of GeometryStage")
    {
        return given[corner(k)];
    }
    GPUPROF_STAGE In in(int k) const GPUPROF_BELOW((unsigned)k, FROM, "a primitive has corners below the FROM of GeometryStage")
    {
        return gpuprof::read_words<In>(given_varyings, corner(k), given_lanes);
    }
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
    // Of the vertex that is made next: its side in pixels as a point, and where the view is cut (distances of 0 and above are inside).
    GPUPROF_STAGE void point_size(float pixels) const
    {
        if (count < MOST)
            more::size(varyings, gpuprof::lane() * MOST + count, lanes, pixels);
    }
    GPUPROF_STAGE void clip(unsigned k, float distance) const
        GPUPROF_BELOW(k, more::COUNT, "stage.clip(k, distance) with k below the n of CLIP_DISTANCES * n")
    {
        if (count < MOST)
            more::distance(varyings, gpuprof::lane() * MOST + count, lanes, k, distance);
    }
};

template <typename In, int ABILITIES = 0> struct PixelStage {
    const float *varyings; // word by word, each of all lanes
    const float4 *places;
    const unsigned *facts; // the primitive's number times two, and whether it is seen from the front
    float4 *colors;        // target by target, each of all lanes
    float *depths;
    unsigned char *discarded;
    unsigned lanes, padding;
    const float2 *points;

    GPUPROF_STAGE In in() const { return gpuprof::read_words<In>(varyings, gpuprof::lane(), lanes); }
    // In the target: x and y of the pixel's middle, z as it is tested, and 1 / w.
    GPUPROF_STAGE float4 place() const { return places[gpuprof::lane()]; }
    GPUPROF_STAGE unsigned primitive() const { return facts[gpuprof::lane()] >> 1; }
    GPUPROF_STAGE bool is_front() const { return facts[gpuprof::lane()] & 1; }
    // Where in its point the pixel is: 0 to 1 to the right and downwards.
    GPUPROF_STAGE float2 point() const
    {
        static_assert(ABILITIES & POINT_COORDINATES, "a shader that asks for its place in a point has a PixelStage<Varyings, POINT_COORDINATES>");
        return points[gpuprof::lane()];
    }
    GPUPROF_STAGE void color(float4 color, unsigned target = 0) const
        GPUPROF_BELOW(target, gpuprof::MOST_TARGETS, "a frame has color targets 0 to 7")
    {
        GPUPROF_CHECK(target < gpuprof::MOST_TARGETS, "stage.color(color, target) with a target from 0 to 7");
        colors[(size_t)target * lanes + gpuprof::lane()] = color;
    }
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
    word_set flat; // of what a pixel shader takes
};

template <typename Kernel> struct facts_of;
template <typename In, typename Out, int ABILITIES, typename... Uniforms> struct facts_of<void(VertexStage<In, Out, ABILITIES>, Uniforms...)> {
    static constexpr shader_facts value = {0, sizeof(In), words_of<Out>(), ABILITIES, 0, 0, 0, 0, {}};
};
template <typename In, typename Out, int COUNT, typename Constants, typename... Uniforms>
struct facts_of<void(HullStage<In, Out, COUNT, Constants>, Uniforms...)> {
    static constexpr shader_facts value = {1, words_of<In>() * 4, words_of<Out>(), 0, 0, 0, COUNT, words_of<Constants>(), {}};
};
template <typename In, typename Out, int COUNT, typename Constants, int ABILITIES, typename... Uniforms>
struct facts_of<void(DomainStage<In, Out, COUNT, Constants, ABILITIES>, Uniforms...)> {
    static constexpr shader_facts value = {2, words_of<In>() * 4, words_of<Out>(), ABILITIES, 0, COUNT, 0, words_of<Constants>(), {}};
};
template <typename In, typename Out, int MOST, int FROM, int TO, int ABILITIES, typename... Uniforms>
struct facts_of<void(GeometryStage<In, Out, MOST, FROM, TO, ABILITIES>, Uniforms...)> {
    static constexpr shader_facts value = {3, words_of<In>() * 4, words_of<Out>(), ABILITIES, MOST, FROM, TO, 0, {}};
};
template <typename In, int ABILITIES, typename... Uniforms> struct facts_of<void(PixelStage<In, ABILITIES>, Uniforms...)> {
    static constexpr shader_facts value = {4, words_of<In>() * 4, 0, ABILITIES, 0, 0, 0, 0, flat_words_of<In>()};
};

} // namespace gpuprof

// Marks a kernel as a shader: `Pipeline` asks the module for these facts.
#define SHADER(name) extern "C" __device__ __attribute__((used)) gpuprof::shader_facts gpuprof_shader_##name = gpuprof::facts_of<decltype(name)>::value;
