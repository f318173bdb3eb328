// What a kernel asks of the system: text, memory, time; and assembly of its own.
#include <assert.h>
#include <stdio.h>

// LAUNCH: formats<<<1, 2>>>(3)
// LAUNCH: heap<<<1, 64>>>(heap: i32[64])
// LAUNCH: objects<<<1, 32>>>(objects: f64[32])
// LAUNCH: asserted<<<1, 32>>>(asserted: i32[32])
// LAUNCH: times<<<1, 32>>>(times: i32[32])
// LAUNCH: assembly<<<1, 64>>>(assembly: u64[512])
// LAUNCH: fences<<<2, 32>>>(fences: i32[64])
// LAUNCH: never<<<1, 32>>>(never: i32[32])
// LAUNCH: bounded<<<1, 128>>>(bounded: f32[128])

extern "C" __global__ void formats(int n)
{
    int t = threadIdx.x;
    printf("%d %i %5d|%-5d|%05d|%+d|% d\n", n, -t, t, t, t, t, t);
    printf("%u %o %x %X %#x %#o %08x\n", 4000000000u, 8, 255, 255, 255, 8, 48879);
    printf("%lld %llu %llx %ld %hd %hhd %zu\n", -1ll << 40, ~0ull, 1ull << 60, 123456789012l, (short)-5, (signed char)-7, sizeof(int));
    printf("%f %.2f %10.3f|%-10.1f|%+.0f %e %.3E %g %G %g\n", 1.5, 3.14159, 2.71828, 0.05, 9.5, 12345.678, 0.00012, 1e-10, 1e20, 100000.0);
    printf("%s|%10s|%-6s|%.2s %c%c %%\n", "text", "right", "left", "cut", 'x', 65 + t);
    printf("%p %d %*d %.*f\n", (void *)0x1234, n, 6, t, 2, 1.23456);
    printf("%f %f %f %d\n", 1.0 / 0.0, -1.0 / 0.0, 0.0f, 0x7fffffff);
    printf("no arguments\n");
    printf("%5c|%-3c|%a\n", 'q', 'r', 1.0);
    printf("%d %f %lld %s %d\n", 1, 2.0, 3ll, "four", 5);
}

extern "C" __global__ void heap(int *out)
{
    __shared__ int *shared_block;
    int t = threadIdx.x;
    int *mine = (int *)malloc((t % 5 + 1) * sizeof(int));
    for (int i = 0; i <= t % 5; i++)
        mine[i] = i * t;
    if (t == 0)
        shared_block = (int *)malloc(64 * sizeof(int));
    __syncthreads();
    shared_block[t] = mine[t % 5];
    __syncthreads();
    out[t] = shared_block[63 - t] + ((unsigned long long)mine % 16 == 0);
    free(mine);
    __syncthreads();
    if (t == 0)
        free(shared_block);
    free(nullptr);
}

struct Node {
    double value;
    Node *next;
    __device__ Node(double value, Node *next) : value(value), next(next) {}
    __device__ ~Node() { delete next; }
};

extern "C" __global__ void objects(double *out)
{
    Node *list = nullptr;
    for (int i = 0; i <= (int)threadIdx.x % 6; i++)
        list = new Node(i * 0.5 + threadIdx.x, list);
    double sum = 0;
    for (Node *node = list; node; node = node->next)
        sum = 2 * sum + node->value;
    delete list;
    int *several = new int[5];
    several[4] = 3;
    out[threadIdx.x] = sum + several[4];
    delete[] several;
}

extern "C" __global__ void asserted(int *out)
{
    assert(threadIdx.x < 32);
    assert(out != nullptr && "a pointer is given");
    out[threadIdx.x] = threadIdx.x;
}

extern "C" __global__ void times(int *out)
{
    long long start = clock64();
    unsigned begun = (unsigned)clock();
    __nanosleep(100);
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    out[threadIdx.x] = (clock64() >= start) + 4 * (now > 0) + 2 * ((unsigned)clock() - begun < 1u << 30);
}

__device__ unsigned by_assembly(unsigned a, unsigned b)
{
    unsigned result;
    asm("{\n\t.reg .pred p;\n\t.reg .u32 t;\n\tsetp.lt.u32 p, %1, %2;\n\tselp.u32 t, %1, %2, p;\n\t@p add.u32 t, t, 1000;\n\tmov.u32 %0, t;\n\t}"
        : "=r"(result)
        : "r"(a), "r"(b));
    return result;
}

extern "C" __global__ void assembly(unsigned long long *out)
{
    unsigned t = threadIdx.x, r, lo, hi;
    unsigned long long w, *o = out + 8 * t;
    o[0] = by_assembly(t, 20);
    asm("bfe.u32 %0, %1, %2, 5;" : "=r"(r) : "r"(t * 0x01234567u), "r"(t % 27));
    o[1] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(t), "r"(t * 7), "r"(0xff00u));
    o[2] = r;
    asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %4, 0;" : "=r"(lo), "=r"(hi) : "r"(t * 0x08000000u), "r"(0xf0000000u), "r"(t));
    o[3] = (unsigned long long)hi << 32 | lo;
    asm("mov.b64 %0, {%1, %2};" : "=l"(w) : "r"(t), "r"(~t));
    o[4] = w;
    asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(r) : "r"(t), "r"(t << 4));
    o[5] = r;
    float f = t;
    asm("fma.rn.f32 %0, %0, 0f40000000, 0f3F800000;" : "+f"(f));
    o[6] = (unsigned)f;
    double d = t;
    unsigned short h = (unsigned short)(t * 3);
    asm("mul.rn.f64 %0, %0, 0d4008000000000000;\n\tadd.u16 %1, %1, 7;" : "+d"(d), "+h"(h));
    o[7] = (unsigned long long)d + h;
}

__device__ int flag;
extern "C" __global__ void fences(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    __syncthreads();
    out[i] += out[blockIdx.x * blockDim.x + (threadIdx.x + 1) % blockDim.x] * 0 + 1;
}

extern "C" __global__ void never(int *out)
{
    int t = threadIdx.x;
    if (t > 100)
        __trap();
    if (t > 200)
        __brkpt();
    if (t > 300)
        __builtin_unreachable();
    out[t] = t;
    if (t > 400)
        asm("exit;");
    __prof_trigger(1);
    out[t]++;
}

extern "C" __global__ void __launch_bounds__(128, 4) bounded(float *out)
{
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < 10; i++)
        sum += i * 0.5f;
    out[threadIdx.x] = sum + threadIdx.x;
}
