// SIMD intrinsics: operations on two 16-bit or four 8-bit integers in a word, each one of PTX's video instructions.
#pragma once

#include "language.h"

#define GPUPROF_LANES(NAME, OPCODE)                                                                                                        \
    GPUPROF_API unsigned int NAME(unsigned int a, unsigned int b)                                                                          \
    {                                                                                                                                      \
        unsigned int result;                                                                                                               \
        asm(OPCODE " %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(0));                                                            \
        return result;                                                                                                                     \
    }

// The comparisons give 1 in each element (vset), or all ones (vcmp).
#define GPUPROF_LANES_COMPARE(N, ONES, NAME, OPERATOR, TYPE)                                                                               \
    GPUPROF_LANES(__vset##NAME##N, "vset" #N "." TYPE "." TYPE "." OPERATOR)                                                               \
    GPUPROF_API unsigned int __vcmp##NAME##N(unsigned int a, unsigned int b) { return __vset##NAME##N(a, b) * ONES; }

#define GPUPROF_SIMD(N, ONES, TOPS)                                                                                                        \
    GPUPROF_LANES(__vadd##N, "vadd" #N ".u32.u32.u32")                                                                                     \
    GPUPROF_LANES(__vaddss##N, "vadd" #N ".s32.s32.s32.sat")                                                                               \
    GPUPROF_LANES(__vaddus##N, "vadd" #N ".u32.u32.u32.sat")                                                                               \
    GPUPROF_LANES(__vsub##N, "vsub" #N ".u32.u32.u32")                                                                                     \
    GPUPROF_LANES(__vsubss##N, "vsub" #N ".s32.s32.s32.sat")                                                                               \
    GPUPROF_LANES(__vsubus##N, "vsub" #N ".u32.u32.u32.sat")                                                                               \
    GPUPROF_LANES(__vavgs##N, "vavrg" #N ".s32.s32.s32")                                                                                   \
    GPUPROF_LANES(__vavgu##N, "vavrg" #N ".u32.u32.u32")                                                                                   \
    GPUPROF_LANES(__vabsdiffs##N, "vabsdiff" #N ".s32.s32.s32")                                                                            \
    GPUPROF_LANES(__vabsdiffu##N, "vabsdiff" #N ".u32.u32.u32")                                                                            \
    GPUPROF_LANES(__vsads##N, "vabsdiff" #N ".s32.s32.s32.add")                                                                            \
    GPUPROF_LANES(__vsadu##N, "vabsdiff" #N ".u32.u32.u32.add")                                                                            \
    GPUPROF_LANES(__vmaxs##N, "vmax" #N ".s32.s32.s32")                                                                                    \
    GPUPROF_LANES(__vmaxu##N, "vmax" #N ".u32.u32.u32")                                                                                    \
    GPUPROF_LANES(__vmins##N, "vmin" #N ".s32.s32.s32")                                                                                    \
    GPUPROF_LANES(__vminu##N, "vmin" #N ".u32.u32.u32")                                                                                    \
    GPUPROF_LANES(gpuprof_vabsdiffss##N, "vabsdiff" #N ".s32.s32.s32.sat")                                                                 \
    GPUPROF_API unsigned int __vabs##N(unsigned int a) { return __vabsdiffs##N(a, 0); }                                                    \
    GPUPROF_API unsigned int __vabsss##N(unsigned int a) { return gpuprof_vabsdiffss##N(a, 0); }                                           \
    GPUPROF_API unsigned int __vneg##N(unsigned int a) { return __vsub##N(0, a); }                                                         \
    GPUPROF_API unsigned int __vnegss##N(unsigned int a) { return __vsubss##N(0, a); }                                                     \
    GPUPROF_API unsigned int __vhaddu##N(unsigned int a, unsigned int b) { return (a & b) + (((a ^ b) & ~(TOPS)) >> 1); }                  \
    GPUPROF_LANES_COMPARE(N, ONES, eq, "eq", "u32")                                                                                        \
    GPUPROF_LANES_COMPARE(N, ONES, ne, "ne", "u32")                                                                                        \
    GPUPROF_LANES_COMPARE(N, ONES, ges, "ge", "s32")                                                                                       \
    GPUPROF_LANES_COMPARE(N, ONES, geu, "ge", "u32")                                                                                       \
    GPUPROF_LANES_COMPARE(N, ONES, gts, "gt", "s32")                                                                                       \
    GPUPROF_LANES_COMPARE(N, ONES, gtu, "gt", "u32")                                                                                       \
    GPUPROF_LANES_COMPARE(N, ONES, les, "le", "s32")                                                                                       \
    GPUPROF_LANES_COMPARE(N, ONES, leu, "le", "u32")                                                                                       \
    GPUPROF_LANES_COMPARE(N, ONES, lts, "lt", "s32")                                                                                       \
    GPUPROF_LANES_COMPARE(N, ONES, ltu, "lt", "u32")

// __vhaddu: the bit that the shift would carry over from the element above is the lowest of that element.
GPUPROF_SIMD(2, 0xffffu, 0x00010001u)
GPUPROF_SIMD(4, 0xffu, 0x01010101u)
#undef GPUPROF_SIMD
#undef GPUPROF_LANES_COMPARE
#undef GPUPROF_LANES
