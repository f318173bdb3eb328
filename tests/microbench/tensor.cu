// Matrix instructions and the loads of their operands: chains of one accumulator (latency), or eight side by side (throughput).

#define ONE(D, INSTRUCTION)                                                                                                            \
    asm volatile(INSTRUCTION " {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"                                        \
                 : "+r"(D[0]), "+r"(D[1]), "+r"(D[2]), "+r"(D[3]) : "r"(y))

#define MATRIX(NAME, INSTRUCTION)                                                                                                      \
    template <int UNROLL> __global__ void NAME##_latency(int n, unsigned *out)                                                         \
    {                                                                                                                                  \
        unsigned d[4] = {}, y = threadIdx.x;                                                                                           \
        _Pragma("unroll 1") for (int i = 0; i < n; i++) {                                                                              \
            _Pragma("unroll") for (int k = 0; k < UNROLL; k++) ONE(d, INSTRUCTION);                                                     \
        }                                                                                                                              \
        out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];                                                                                  \
    }                                                                                                                                  \
    template <int UNROLL> __global__ void NAME##_throughput(int n, unsigned *out)                                                      \
    {                                                                                                                                  \
        unsigned d[8][4] = {}, y = threadIdx.x, sum = 0;                                                                               \
        _Pragma("unroll 1") for (int i = 0; i < n; i++) {                                                                              \
            _Pragma("unroll") for (int k = 0; k < UNROLL; k++) ONE(d[k % 8], INSTRUCTION);                                              \
        }                                                                                                                              \
        for (int k = 0; k < 8; k++)                                                                                                    \
            sum += d[k][0] + d[k][1] + d[k][2] + d[k][3];                                                                              \
        out[threadIdx.x] = sum;                                                                                                        \
    }

MATRIX(f16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
MATRIX(bf16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
MATRIX(tf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
MATRIX(s8, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32")

template <int UNROLL> __global__ void f64_throughput(int n, double *out)
{
    double d[8][2] = {}, y = threadIdx.x, sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%2}, {%0, %1};"
                         : "+d"(d[k % 8][0]), "+d"(d[k % 8][1]) : "d"(y));
    }
    for (int k = 0; k < 8; k++)
        sum += d[k][0] + d[k][1];
    out[threadIdx.x] = sum;
}

// Rows of 16 bytes, `stride` apart. Each load has its own address, so that none can be left out.
template <int UNROLL> __global__ void ldmatrix_throughput(int n, int stride, unsigned *out)
{
    __shared__ __align__(16) unsigned char rows[32 * 128 + 128 * 16];
    unsigned r[4], sum = 0, place = (unsigned)__cvta_generic_to_shared(rows) + threadIdx.x % 32 * stride;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(place + 16 * k));
            sum ^= r[0] ^ r[1] ^ r[2] ^ r[3];
        }
    }
    out[threadIdx.x] = sum;
}
