// Pointer chases, streams and conflicts, for each level of the memory hierarchy.

typedef unsigned long long u64;

// A ring of pointers, `stride` of them apart (16: one per 128-byte line); the next one is `step` places further. n is a power of two.
extern "C" __global__ void make_ring(u64 *p, u64 n, u64 stride, u64 step)
{
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (i < n)
        p[i * stride] = (u64)(p + (i + step) % n * stride);
}

// The same in an order without a pattern: a linear congruential generator of full period, whose high bits choose the page.
extern "C" __global__ void make_chain(u64 *p, u64 n, u64 stride, u64 factor, u64 term)
{
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (i < n)
        p[i * stride] = (u64)(p + (i * factor + term) % n * stride);
}

// Reads a ring from one SM, a line `step` places on after the other, so that the L2 has of it what the chase before would have left there.
extern "C" __global__ void visit(u64 *p, u64 n, u64 stride, u64 step, u64 *out)
{
    u64 found;
    for (u64 i = threadIdx.x; i < n; i += blockDim.x) {
        asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(found) : "l"(p + i * step % n * stride));
        if (found == 1)
            *out = found;
    }
}

#define CHASE(NAME, CACHE)                                                                                                             \
    extern "C" __global__ void NAME(u64 *p, u64 start, int n, u64 *out)                                                                \
    {                                                                                                                                  \
        u64 at = (u64)(p + start);                                                                                                     \
        _Pragma("unroll 1") for (int i = 0; i < n; i++) {                                                                              \
            _Pragma("unroll") for (int k = 0; k < 32; k++) asm volatile("ld.global" CACHE ".u64 %0, [%0];" : "+l"(at));                \
        }                                                                                                                              \
        *out = at;                                                                                                                     \
    }

CHASE(chase, "")
CHASE(chase_l2, ".cg")

// The same in shared memory; lane l stands in bank l.
template <int UNROLL> __global__ void shared_latency(int n, unsigned *out)
{
    __shared__ unsigned ring[32];
    unsigned at = (unsigned)__cvta_generic_to_shared(ring + threadIdx.x);
    ring[threadIdx.x] = at;
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
    }
    out[threadIdx.x] = at;
}

// The same in the shared memory of the block whose rank differs by `other` (exclusive-or): with 0 in the own, as that of a cluster.
#define MEET asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory")

template <int UNROLL> __global__ void cluster_latency(int n, int other, unsigned *out)
{
    __shared__ unsigned ring[32];
    unsigned here = (unsigned)__cvta_generic_to_shared(ring + threadIdx.x), rank, at;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(here), "r"(rank));
    ring[threadIdx.x] = at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(here), "r"(rank ^ other));
    MEET;
    if (rank == 0) {
#pragma unroll 1
        for (int i = 0; i < n; i++) {
#pragma unroll
            for (int k = 0; k < UNROLL; k++)
                asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(at));
        }
    }
    MEET;
    out[threadIdx.x] = at;
}

// All threads of a cluster's blocks read their neighbours' shared memory.
template <int UNROLL> __global__ void cluster_throughput(int n, unsigned *out)
{
    __shared__ unsigned data[1024];
    unsigned at = (unsigned)__cvta_generic_to_shared(data + threadIdx.x), rank, sum = 0;
    data[threadIdx.x] = 0;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(at) : "r"(rank ^ 1));
    MEET;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        unsigned x[8];
#pragma unroll
        for (int group = 0; group < UNROLL / 8; group++) {
#pragma unroll
            for (int k = 0; k < 8; k++)
                asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(x[k]) : "r"(at));
#pragma unroll
            for (int k = 0; k < 8; k++)
                sum += x[k];
        }
    }
    MEET;
    out[threadIdx.x] = sum;
}

// Loads of one address, over and over, in groups of eight that are in flight together.
#define LOADS(ASM, TYPE, LETTER, POINTER, AT)                                                                                          \
    TYPE x[8], sum = 0;                                                                                                                \
    _Pragma("unroll 1") for (int i = 0; i < n; i++)                                                                                    \
    {                                                                                                                                  \
        _Pragma("unroll") for (int group = 0; group < UNROLL / 8; group++)                                                             \
        {                                                                                                                              \
            _Pragma("unroll") for (int k = 0; k < 8; k++) asm volatile(ASM : "=" LETTER(x[k]) : POINTER(AT));                          \
            _Pragma("unroll") for (int k = 0; k < 8; k++) sum += x[k];                                                                 \
        }                                                                                                                              \
    }                                                                                                                                  \
    out[threadIdx.x] = sum;

// Every lane reads the word `stride` words behind its neighbour's: the stride is the degree of the bank conflict.
template <int UNROLL> __global__ void shared_throughput(int n, int stride, unsigned *out)
{
    __shared__ unsigned data[1024];
    data[threadIdx.x] = 0;
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(data + threadIdx.x % 32 * stride % 1024);
    LOADS("ld.shared.u32 %0, [%1];", unsigned, "r", "r", at)
}

// Hits in the L1 at a stride, in words of 4 and of 8 bytes, at eight distances from the lane's place: what gpu-benches' gpu-strides measures.
template <int UNROLL> __global__ void stride_throughput(int n, int stride, unsigned *data, unsigned *out)
{
    unsigned *at = data + threadIdx.x % 64 * stride;
    LOADS("ld.global.u32 %0, [%1];", unsigned, "r", "l", at + 4 * k)
}

template <int UNROLL> __global__ void stride64_throughput(int n, int stride, u64 *data, u64 *out)
{
    u64 *at = data + threadIdx.x % 64 * stride;
    LOADS("ld.global.u64 %0, [%1];", u64, "l", "l", at + 4 * k)
}

// All threads of the grid read `n` times four quads of four words, one thread after another. `wrap` quads, a power of two, are read again
// and again. CACHE "cg" passes the L1 by.
#define STREAM(NAME, CACHE)                                                                                                            \
    extern "C" __global__ void NAME(int n, unsigned wrap, uint4 *data, unsigned *out)                                                  \
    {                                                                                                                                  \
        unsigned threads = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;                                 \
        _Pragma("unroll 1") for (int k = 0; k < n; k++) {                                                                              \
            uint4 x[4];                                                                                                                \
            _Pragma("unroll") for (int j = 0; j < 4; j++) {                                                                            \
                uint4 *at = data + (i & (wrap - 1));                                                                                   \
                asm volatile("ld.global" CACHE ".v4.u32 {%0, %1, %2, %3}, [%4];"                                                       \
                             : "=r"(x[j].x), "=r"(x[j].y), "=r"(x[j].z), "=r"(x[j].w)                                                  \
                             : "l"(at));                                                                                               \
                i += threads;                                                                                                          \
            }                                                                                                                          \
            _Pragma("unroll") for (int j = 0; j < 4; j++) sum += x[j].x ^ x[j].y ^ x[j].z ^ x[j].w;                                    \
        }                                                                                                                              \
        if (sum == 12345)                                                                                                              \
            *out = sum;                                                                                                                \
    }

STREAM(stream, "")
STREAM(stream_l2, ".cg")

// Each block reads 4 KB of its own over and over: hits in its SM's L1.
template <int UNROLL> __global__ void l1_throughput(int n, uint4 *data, unsigned *out)
{
    uint4 *at = data + threadIdx.x % 256, x[4];
    unsigned sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int group = 0; group < UNROLL / 4; group++) {
#pragma unroll
            for (int k = 0; k < 4; k++)
                asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(x[k].x), "=r"(x[k].y), "=r"(x[k].z), "=r"(x[k].w)
                             : "l"(at));
#pragma unroll
            for (int k = 0; k < 4; k++)
                sum += x[k].x ^ x[k].w;
        }
    }
    out[threadIdx.x] = sum;
}

// Each thread has one line of 4-byte loads in flight at a time: bandwidth is what Little's law leaves.
extern "C" __global__ void one_in_flight(int n, unsigned *data, unsigned *out)
{
    unsigned threads = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x, x = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(data + (i | x)));
        i += threads;
    }
    out[threadIdx.x] = x;
}
