// Textures: an object is a handle, and a fetch is one PTX instruction. A type T is what CUDA allows: 8-, 16- and 32-bit integers and
// float, single or in vectors of 2 and 4.
#pragma once

#include "language.h"

typedef unsigned long long cudaTextureObject_t;

// A fetch gives four words; `words` is their type, `of` makes a T of them.
template <typename T> struct gpuprof_texel;
#define GPUPROF_TEXEL(S, V, WORDS)                                                                                                         \
    template <> struct gpuprof_texel<S> {                                                                                                  \
        typedef WORDS words;                                                                                                               \
        static GPUPROF_DEVICE_MEMBER S of(WORDS v) { return (S)v.x; }                                                                      \
    };                                                                                                                                     \
    template <> struct gpuprof_texel<V##1> {                                                                                               \
        typedef WORDS words;                                                                                                               \
        static GPUPROF_DEVICE_MEMBER V##1 of(WORDS v) { return {(S)v.x}; }                                                                 \
    };                                                                                                                                     \
    template <> struct gpuprof_texel<V##2> {                                                                                               \
        typedef WORDS words;                                                                                                               \
        static GPUPROF_DEVICE_MEMBER V##2 of(WORDS v) { return {(S)v.x, (S)v.y}; }                                                         \
    };                                                                                                                                     \
    template <> struct gpuprof_texel<V##4> {                                                                                               \
        typedef WORDS words;                                                                                                               \
        static GPUPROF_DEVICE_MEMBER V##4 of(WORDS v) { return {(S)v.x, (S)v.y, (S)v.z, (S)v.w}; }                                         \
    };
GPUPROF_TEXEL(signed char, char, int4)
GPUPROF_TEXEL(unsigned char, uchar, uint4)
GPUPROF_TEXEL(short, short, int4)
GPUPROF_TEXEL(unsigned short, ushort, uint4)
GPUPROF_TEXEL(int, int, int4)
GPUPROF_TEXEL(unsigned int, uint, uint4)
GPUPROF_TEXEL(float, float, float4)
#undef GPUPROF_TEXEL
template <> struct gpuprof_texel<char> : gpuprof_texel<signed char> {};

#define GPUPROF_LIST(...) __VA_ARGS__
#define GPUPROF_FETCH_WORDS(WORDS, C, NAME, PTX, PLACE, PARAMETERS, INPUTS)                                                                \
    GPUPROF_API void gpuprof_##NAME(WORDS &v, cudaTextureObject_t t, GPUPROF_LIST PARAMETERS)                                              \
    {                                                                                                                                      \
        asm(PTX " {%[r0], %[r1], %[r2], %[r3]}, [%[t], " PLACE ";"                                                                         \
            : [r0] "=" C(v.x), [r1] "=" C(v.y), [r2] "=" C(v.z), [r3] "=" C(v.w)                                                           \
            : [t] "l"(t), GPUPROF_LIST INPUTS);                                                                                            \
    }

// One function template over the three kinds of words. PLACE closes the bracket: a level or derivatives follow.
#define GPUPROF_FETCH(NAME, FORM, CTYPE, PLACE, PARAMETERS, ARGUMENTS, INPUTS)                                                             \
    GPUPROF_FETCH_WORDS(float4, "f", NAME, "tex." FORM ".v4.f32." CTYPE, PLACE, PARAMETERS, INPUTS)                                        \
    GPUPROF_FETCH_WORDS(int4, "r", NAME, "tex." FORM ".v4.s32." CTYPE, PLACE, PARAMETERS, INPUTS)                                          \
    GPUPROF_FETCH_WORDS(uint4, "r", NAME, "tex." FORM ".v4.u32." CTYPE, PLACE, PARAMETERS, INPUTS)                                         \
    template <typename T> GPUPROF_API T NAME(cudaTextureObject_t t, GPUPROF_LIST PARAMETERS)                                               \
    {                                                                                                                                      \
        typename gpuprof_texel<T>::words v;                                                                                                \
        gpuprof_##NAME(v, t, GPUPROF_LIST ARGUMENTS);                                                                                      \
        return gpuprof_texel<T>::of(v);                                                                                                    \
    }                                                                                                                                      \
    template <typename T> GPUPROF_API void NAME(T *result, cudaTextureObject_t t, GPUPROF_LIST PARAMETERS)                                 \
    {                                                                                                                                      \
        *result = NAME<T>(t, GPUPROF_LIST ARGUMENTS);                                                                                      \
    }                                                                                                                                      \
    template <typename T> GPUPROF_API T NAME(cudaTextureObject_t t, GPUPROF_LIST PARAMETERS, bool *is_resident)                            \
    {                                                                                                                                      \
        *is_resident = true; /* there are no sparse arrays */                                                                              \
        return NAME<T>(t, GPUPROF_LIST ARGUMENTS);                                                                                         \
    }

#define GPUPROF_TEX_X [x] "f"(x)
#define GPUPROF_TEX_XY [x] "f"(x), [y] "f"(y)
#define GPUPROF_TEX_XYZ [x] "f"(x), [y] "f"(y), [z] "f"(z)
#define GPUPROF_TEX_LAYER [layer] "r"(layer)
#define GPUPROF_TEX_LEVEL [level] "f"(level)
#define GPUPROF_TEX_D1 [ax] "f"(dPdx), [bx] "f"(dPdy)
#define GPUPROF_TEX_D2 [ax] "f"(dPdx.x), [ay] "f"(dPdx.y), [bx] "f"(dPdy.x), [by] "f"(dPdy.y)
#define GPUPROF_TEX_D3 GPUPROF_TEX_D2, [az] "f"(dPdx.z), [bz] "f"(dPdy.z)
#define GPUPROF_TEX_P1 "{%[ax]}, {%[bx]}"
#define GPUPROF_TEX_P2 "{%[ax], %[ay]}, {%[bx], %[by]}"
#define GPUPROF_TEX_P3 "{%[ax], %[ay], %[az], %[az]}, {%[bx], %[by], %[bz], %[bz]}"

// Every geometry: plain, at a level, and by derivatives.
#define GPUPROF_FETCHES(NAME, GEOMETRY, PLACE, PARAMETERS, ARGUMENTS, INPUTS, D, DP, DI)                                                   \
    GPUPROF_FETCH(NAME, GEOMETRY, "f32", PLACE "]", (GPUPROF_LIST PARAMETERS), (GPUPROF_LIST ARGUMENTS), (GPUPROF_LIST INPUTS))            \
    GPUPROF_FETCH(NAME##Lod, "level." GEOMETRY, "f32", PLACE "], %[level]", (GPUPROF_LIST PARAMETERS, float level),                        \
                  (GPUPROF_LIST ARGUMENTS, level), (GPUPROF_LIST INPUTS, GPUPROF_TEX_LEVEL))                                               \
    GPUPROF_FETCH(NAME##Grad, "grad." GEOMETRY, "f32", PLACE "], " DP, (GPUPROF_LIST PARAMETERS, D dPdx, D dPdy),                          \
                  (GPUPROF_LIST ARGUMENTS, dPdx, dPdy), (GPUPROF_LIST INPUTS, DI))

GPUPROF_FETCH(tex1Dfetch, "1d", "s32", "{%[x]}]", (int x), (x), ([x] "r"(x)))
GPUPROF_FETCHES(tex1D, "1d", "{%[x]}", (float x), (x), (GPUPROF_TEX_X), float, GPUPROF_TEX_P1, GPUPROF_TEX_D1)
GPUPROF_FETCHES(tex2D, "2d", "{%[x], %[y]}", (float x, float y), (x, y), (GPUPROF_TEX_XY), float2, GPUPROF_TEX_P2, GPUPROF_TEX_D2)
GPUPROF_FETCHES(tex3D, "3d", "{%[x], %[y], %[z], %[z]}", (float x, float y, float z), (x, y, z), (GPUPROF_TEX_XYZ), float4, GPUPROF_TEX_P3, GPUPROF_TEX_D3)
GPUPROF_FETCHES(tex1DLayered, "a1d", "{%[layer], %[x]}", (float x, int layer), (x, layer), (GPUPROF_TEX_X, GPUPROF_TEX_LAYER), float, GPUPROF_TEX_P1,
                GPUPROF_TEX_D1)
GPUPROF_FETCHES(tex2DLayered, "a2d", "{%[layer], %[x], %[y], %[y]}", (float x, float y, int layer), (x, y, layer),
                (GPUPROF_TEX_XY, GPUPROF_TEX_LAYER), float2, GPUPROF_TEX_P2, GPUPROF_TEX_D2)
GPUPROF_FETCHES(texCubemap, "cube", "{%[x], %[y], %[z], %[z]}", (float x, float y, float z), (x, y, z), (GPUPROF_TEX_XYZ), float4, GPUPROF_TEX_P3,
                GPUPROF_TEX_D3)
GPUPROF_FETCHES(texCubemapLayered, "acube", "{%[layer], %[x], %[y], %[z]}", (float x, float y, float z, int layer), (x, y, z, layer),
                (GPUPROF_TEX_XYZ, GPUPROF_TEX_LAYER), float4, GPUPROF_TEX_P3, GPUPROF_TEX_D3)

#define GPUPROF_GATHER_WORDS(WORDS, C, TYPE)                                                                                               \
    GPUPROF_API void gpuprof_gather(WORDS &v, cudaTextureObject_t t, float x, float y, int component)                                      \
    {                                                                                                                                      \
        if (component == 0)                                                                                                                \
            GPUPROF_GATHER_ASM("r", TYPE, C);                                                                                              \
        else if (component == 1)                                                                                                           \
            GPUPROF_GATHER_ASM("g", TYPE, C);                                                                                              \
        else if (component == 2)                                                                                                           \
            GPUPROF_GATHER_ASM("b", TYPE, C);                                                                                              \
        else                                                                                                                               \
            GPUPROF_GATHER_ASM("a", TYPE, C);                                                                                              \
    }
#define GPUPROF_GATHER_ASM(COMPONENT, TYPE, C)                                                                                             \
    asm("tld4." COMPONENT ".2d.v4." TYPE ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                                          \
        : "=" C(v.x), "=" C(v.y), "=" C(v.z), "=" C(v.w)                                                                                   \
        : "l"(t), "f"(x), "f"(y))
GPUPROF_GATHER_WORDS(float4, "f", "f32")
GPUPROF_GATHER_WORDS(int4, "r", "s32")
GPUPROF_GATHER_WORDS(uint4, "r", "u32")
template <typename T> GPUPROF_API T tex2Dgather(cudaTextureObject_t t, float x, float y, int component = 0)
{
    typename gpuprof_texel<T>::words v;
    gpuprof_gather(v, t, x, y, component);
    return gpuprof_texel<T>::of(v);
}
template <typename T> GPUPROF_API void tex2Dgather(T *result, cudaTextureObject_t t, float x, float y, int component = 0)
{
    *result = tex2Dgather<T>(t, x, y, component);
}
template <typename T> GPUPROF_API T tex2Dgather(cudaTextureObject_t t, float x, float y, bool *is_resident, int component = 0)
{
    *is_resident = true;
    return tex2Dgather<T>(t, x, y, component);
}
#undef GPUPROF_GATHER_ASM
#undef GPUPROF_GATHER_WORDS
#undef GPUPROF_FETCHES
#undef GPUPROF_FETCH
#undef GPUPROF_FETCH_WORDS
#undef GPUPROF_TEX_X
#undef GPUPROF_TEX_XY
#undef GPUPROF_TEX_XYZ
#undef GPUPROF_TEX_LAYER
#undef GPUPROF_TEX_LEVEL
#undef GPUPROF_TEX_D1
#undef GPUPROF_TEX_D2
#undef GPUPROF_TEX_D3
#undef GPUPROF_TEX_P1
#undef GPUPROF_TEX_P2
#undef GPUPROF_TEX_P3
