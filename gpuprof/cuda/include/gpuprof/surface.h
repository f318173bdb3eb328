// Surfaces: x counts bytes. A type T is moved by its size: 1, 2, 4, 8 or 16 bytes.
#pragma once

#include "texture.h"

typedef unsigned long long cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

// What is moved for each size.
template <int nbytes> struct gpuprof_piece;
template <> struct gpuprof_piece<1> { typedef unsigned char type; };
template <> struct gpuprof_piece<2> { typedef unsigned short type; };
template <> struct gpuprof_piece<4> { typedef unsigned int type; };
template <> struct gpuprof_piece<8> { typedef uint2 type; };
template <> struct gpuprof_piece<16> { typedef uint4 type; };

#define GPUPROF_SURFACE_BODY(ASM, ...)                                                                                                     \
    {                                                                                                                                      \
        if (mode == cudaBoundaryModeZero)                                                                                                  \
            ASM("zero", __VA_ARGS__);                                                                                                      \
        else if (mode == cudaBoundaryModeClamp)                                                                                            \
            ASM("clamp", __VA_ARGS__);                                                                                                     \
        else                                                                                                                               \
            ASM("trap", __VA_ARGS__);                                                                                                      \
    }
#define GPUPROF_SULD(MODE, KIND, VECTOR, RESULTS, PLACE, INPUTS)                                                                           \
    asm volatile("suld.b." KIND "." MODE " " VECTOR ", [%[s], " PLACE "];" : GPUPROF_LIST RESULTS : [s] "l"(s), GPUPROF_LIST INPUTS : "memory")
#define GPUPROF_SUST(MODE, KIND, VECTOR, VALUES, PLACE, INPUTS)                                                                            \
    asm volatile("sust.b." KIND "." MODE " [%[s], " PLACE "], " VECTOR ";" ::[s] "l"(s), GPUPROF_LIST INPUTS, GPUPROF_LIST VALUES : "memory")

// Reads and writes of every size of one geometry.
#define GPUPROF_SURFACE(NAME, GEOMETRY, PLACE, PARAMETERS, ARGUMENTS, INPUTS)                                                              \
    GPUPROF_API void gpuprof_##NAME##read(unsigned short &v, cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode) \
        GPUPROF_SURFACE_BODY(GPUPROF_SULD, GEOMETRY ".b16", "{%[r0]}", ([r0] "=h"(v)), PLACE, INPUTS)                                      \
    GPUPROF_API void gpuprof_##NAME##byte(unsigned short &v, cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode) \
        GPUPROF_SURFACE_BODY(GPUPROF_SULD, GEOMETRY ".b8", "{%[r0]}", ([r0] "=h"(v)), PLACE, INPUTS)                                       \
    GPUPROF_API void gpuprof_##NAME##read(unsigned char &v, cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode)  \
    {                                                                                                                                      \
        unsigned short wide;                                                                                                               \
        gpuprof_##NAME##byte(wide, s, GPUPROF_LIST ARGUMENTS, mode);                                                                       \
        v = (unsigned char)wide;                                                                                                           \
    }                                                                                                                                      \
    GPUPROF_API void gpuprof_##NAME##read(unsigned int &v, cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode)   \
        GPUPROF_SURFACE_BODY(GPUPROF_SULD, GEOMETRY ".b32", "{%[r0]}", ([r0] "=r"(v)), PLACE, INPUTS)                                      \
    GPUPROF_API void gpuprof_##NAME##read(uint2 &v, cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode)          \
        GPUPROF_SURFACE_BODY(GPUPROF_SULD, GEOMETRY ".v2.b32", "{%[r0], %[r1]}", ([r0] "=r"(v.x), [r1] "=r"(v.y)), PLACE, INPUTS)          \
    GPUPROF_API void gpuprof_##NAME##read(uint4 &v, cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode)          \
        GPUPROF_SURFACE_BODY(GPUPROF_SULD, GEOMETRY ".v4.b32", "{%[r0], %[r1], %[r2], %[r3]}",                                             \
                             ([r0] "=r"(v.x), [r1] "=r"(v.y), [r2] "=r"(v.z), [r3] "=r"(v.w)), PLACE, INPUTS)                              \
    GPUPROF_API void gpuprof_##NAME##write(unsigned short v, cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode) \
        GPUPROF_SURFACE_BODY(GPUPROF_SUST, GEOMETRY ".b16", "{%[v0]}", ([v0] "h"(v)), PLACE, INPUTS)                                       \
    GPUPROF_API void gpuprof_##NAME##write(unsigned char v, cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode)  \
        GPUPROF_SURFACE_BODY(GPUPROF_SUST, GEOMETRY ".b8", "{%[v0]}", ([v0] "h"((unsigned short)v)), PLACE, INPUTS)                        \
    GPUPROF_API void gpuprof_##NAME##write(unsigned int v, cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode)   \
        GPUPROF_SURFACE_BODY(GPUPROF_SUST, GEOMETRY ".b32", "{%[v0]}", ([v0] "r"(v)), PLACE, INPUTS)                                       \
    GPUPROF_API void gpuprof_##NAME##write(uint2 v, cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode)          \
        GPUPROF_SURFACE_BODY(GPUPROF_SUST, GEOMETRY ".v2.b32", "{%[v0], %[v1]}", ([v0] "r"(v.x), [v1] "r"(v.y)), PLACE, INPUTS)            \
    GPUPROF_API void gpuprof_##NAME##write(uint4 v, cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode)          \
        GPUPROF_SURFACE_BODY(GPUPROF_SUST, GEOMETRY ".v4.b32", "{%[v0], %[v1], %[v2], %[v3]}",                                             \
                             ([v0] "r"(v.x), [v1] "r"(v.y), [v2] "r"(v.z), [v3] "r"(v.w)), PLACE, INPUTS)                                  \
    template <typename T>                                                                                                                  \
    GPUPROF_API T NAME##read(cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)          \
    {                                                                                                                                      \
        typename gpuprof_piece<sizeof(T)>::type v;                                                                                         \
        gpuprof_##NAME##read(v, s, GPUPROF_LIST ARGUMENTS, mode);                                                                          \
        return __builtin_bit_cast(T, v);                                                                                                   \
    }                                                                                                                                      \
    template <typename T>                                                                                                                  \
    GPUPROF_API void NAME##read(T *result, cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) \
    {                                                                                                                                      \
        *result = NAME##read<T>(s, GPUPROF_LIST ARGUMENTS, mode);                                                                          \
    }                                                                                                                                      \
    template <typename T>                                                                                                                  \
    GPUPROF_API void NAME##write(T v, cudaSurfaceObject_t s, GPUPROF_LIST PARAMETERS, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) \
    {                                                                                                                                      \
        gpuprof_##NAME##write(__builtin_bit_cast(typename gpuprof_piece<sizeof(T)>::type, v), s, GPUPROF_LIST ARGUMENTS, mode);            \
    }

#define GPUPROF_TEX_X [x] "r"(x)
#define GPUPROF_TEX_XY GPUPROF_TEX_X, [y] "r"(y)
GPUPROF_SURFACE(surf1D, "1d", "{%[x]}", (int x), (x), (GPUPROF_TEX_X))
GPUPROF_SURFACE(surf2D, "2d", "{%[x], %[y]}", (int x, int y), (x, y), (GPUPROF_TEX_XY))
GPUPROF_SURFACE(surf3D, "3d", "{%[x], %[y], %[z], %[z]}", (int x, int y, int z), (x, y, z), (GPUPROF_TEX_XY, [z] "r"(z)))
GPUPROF_SURFACE(surf1DLayered, "a1d", "{%[layer], %[x]}", (int x, int layer), (x, layer), (GPUPROF_TEX_X, [layer] "r"(layer)))
GPUPROF_SURFACE(surf2DLayered, "a2d", "{%[layer], %[x], %[y], %[y]}", (int x, int y, int layer), (x, y, layer),
                (GPUPROF_TEX_XY, [layer] "r"(layer)))
GPUPROF_SURFACE(surfCubemap, "a2d", "{%[face], %[x], %[y], %[y]}", (int x, int y, int face), (x, y, face), (GPUPROF_TEX_XY, [face] "r"(face)))
GPUPROF_SURFACE(surfCubemapLayered, "a2d", "{%[face], %[x], %[y], %[y]}", (int x, int y, int face), (x, y, face),
                (GPUPROF_TEX_XY, [face] "r"(face)))
#undef GPUPROF_TEX_X
#undef GPUPROF_TEX_XY
#undef GPUPROF_SURFACE
#undef GPUPROF_SUST
#undef GPUPROF_SULD
#undef GPUPROF_SURFACE_BODY
#undef GPUPROF_LIST
