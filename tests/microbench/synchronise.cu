// Barriers and atomics.

template <int UNROLL> __global__ void barrier_latency(int n, unsigned *out)
{
#pragma unroll 1
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            __syncthreads();
    }
    out[threadIdx.x] = n;
}

// Lane l of every warp adds to word l * stride: 0 is one address for all.
template <int UNROLL> __global__ void atomic_throughput(int n, int stride, unsigned *data)
{
    unsigned *at = data + (blockIdx.x * blockDim.x + threadIdx.x) * stride;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at) : "memory");
    }
}

// Each atomic waits for the one before it.
template <int UNROLL> __global__ void atomic_latency(int n, unsigned *data)
{
    unsigned *at = data + threadIdx.x, x = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            asm volatile("atom.global.add.u32 %0, [%1], %0;" : "+r"(x) : "l"(at) : "memory");
    }
    *at = x;
}

template <int UNROLL> __global__ void shared_atomic_latency(int n, unsigned *out)
{
    __shared__ unsigned data[32];
    data[threadIdx.x] = 0;
    unsigned at = (unsigned)__cvta_generic_to_shared(data + threadIdx.x), x = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            asm volatile("atom.shared.add.u32 %0, [%1], %0;" : "+r"(x) : "r"(at) : "memory");
    }
    out[threadIdx.x] = x;
}

// Lane l adds to word l * stride: 0 is one word for all, which take turns.
template <int UNROLL> __global__ void shared_atomic_throughput(int n, int stride, unsigned *out)
{
    __shared__ unsigned data[1024];
    data[threadIdx.x] = 0;
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(data + threadIdx.x % 32 * stride % 1024), x, sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int k = 0; k < UNROLL; k++) {
            asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(x) : "r"(at) : "memory");
            sum += x;
        }
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void nothing()
{
}
