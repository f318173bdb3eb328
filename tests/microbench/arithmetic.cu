// One instruction, many times: in a dependent chain (latency), or eight chains side by side (throughput).
//
// Every kernel comes in two bodies, UNROLL times the instruction; what two bodies differ by has no loop in it.

#define CHAIN(NAME, TYPE, LETTER, START, INSTRUCTION)                                                                                  \
    template <int UNROLL> __global__ void NAME##_latency(int n, TYPE *out)                                                             \
    {                                                                                                                                  \
        TYPE x = START, y = START;                                                                                                     \
        _Pragma("unroll 1") for (int i = 0; i < n; i++) {                                                                              \
            _Pragma("unroll") for (int k = 0; k < UNROLL; k++) asm volatile(INSTRUCTION : "+" LETTER(x) : LETTER(y));                   \
        }                                                                                                                              \
        out[threadIdx.x] = x;                                                                                                          \
    }

#define EIGHT_CHAINS(NAME, TYPE, LETTER, START, INSTRUCTION)                                                                           \
    template <int UNROLL> __global__ void NAME##_throughput(int n, TYPE *out)                                                          \
    {                                                                                                                                  \
        TYPE x[8], y = START, sum = 0;                                                                                                 \
        for (int k = 0; k < 8; k++)                                                                                                    \
            x[k] = START + k;                                                                                                          \
        _Pragma("unroll 1") for (int i = 0; i < n; i++) {                                                                              \
            _Pragma("unroll") for (int k = 0; k < UNROLL; k++) asm volatile(INSTRUCTION : "+" LETTER(x[k % 8]) : LETTER(y));            \
        }                                                                                                                              \
        for (int k = 0; k < 8; k++)                                                                                                    \
            sum += x[k];                                                                                                               \
        out[threadIdx.x] = sum;                                                                                                        \
    }

#define BOTH(...)                                                                                                                      \
    CHAIN(__VA_ARGS__)                                                                                                                 \
    EIGHT_CHAINS(__VA_ARGS__)

BOTH(ffma, float, "f", threadIdx.x, "fma.rn.f32 %0, %0, %1, %1;")
BOTH(iadd, unsigned, "r", threadIdx.x, "add.u32 %0, %0, %1;")
BOTH(imad, unsigned, "r", threadIdx.x, "mad.lo.u32 %0, %0, %1, %1;")
BOTH(mufu, float, "f", threadIdx.x, "ex2.approx.ftz.f32 %0, %0;")
BOTH(dfma, double, "d", threadIdx.x, "fma.rn.f64 %0, %0, %1, %1;")
BOTH(hfma2, unsigned, "r", threadIdx.x, "fma.rn.f16x2 %0, %0, %1, %1;")
BOTH(popc, unsigned, "r", threadIdx.x, "popc.b32 %0, %0;")
BOTH(shuffle, unsigned, "r", threadIdx.x, "shfl.sync.bfly.b32 %0, %0, 1, 31, -1;")
// Alternating pipes: a multiply-add on the FMA pipe, then an addition on the ALU.
CHAIN(cross, unsigned, "r", threadIdx.x, "mad.lo.u32 %0, %0, %1, %1;\n\tadd.u32 %0, %0, %1;")
BOTH(lop3, unsigned, "r", threadIdx.x, "lop3.b32 %0, %0, %1, 85, 0x96;")
BOTH(shf, unsigned, "r", threadIdx.x, "shf.l.wrap.b32 %0, %0, %1, 7;")
BOTH(imin, unsigned, "r", threadIdx.x, "min.u32 %0, %0, %1;")
BOTH(rsqrt, float, "f", threadIdx.x, "rsqrt.approx.ftz.f32 %0, %0;")
BOTH(fdiv, float, "f", 1 + threadIdx.x, "div.rn.f32 %0, %0, %1;")
BOTH(ddiv, double, "d", 1 + threadIdx.x, "div.rn.f64 %0, %0, %1;")
BOTH(dsqrt, double, "d", 1 + threadIdx.x, "sqrt.rn.f64 %0, %0;")
// As gpu-benches measures them: an addition before each.
BOTH(add_ddiv, double, "d", 1 + threadIdx.x, "{ .reg .f64 t; add.rn.f64 t, %0, %1; div.rn.f64 %0, %1, t; }")
BOTH(add_dsqrt, double, "d", 1 + threadIdx.x, "{ .reg .f64 t; add.rn.f64 t, %0, %1; sqrt.rn.f64 %0, t; }")
BOTH(udiv, unsigned, "r", 1 + threadIdx.x, "div.u32 %0, %0, %1;")
BOTH(f2i, float, "f", threadIdx.x, "{ .reg .u32 t; cvt.rzi.u32.f32 t, %0; mov.b32 %0, t; }")
CHAIN(prmt, unsigned, "r", threadIdx.x, "prmt.b32 %0, %0, %1, 0x2103;")
CHAIN(dp4a, unsigned, "r", threadIdx.x, "dp4a.u32.u32 %0, %1, %1, %0;")
CHAIN(imad_hi, unsigned, "r", threadIdx.x, "mul.hi.u32 %0, %0, %1;")
CHAIN(convert, unsigned, "r", threadIdx.x, "{ .reg .f32 t; cvt.rn.f32.u32 t, %0; cvt.rzi.u32.f32 %0, t; }")
CHAIN(select, unsigned, "r", threadIdx.x, "{ .reg .pred p; setp.lt.u32 p, %0, %1; selp.u32 %0, 5, %0, p; }")
