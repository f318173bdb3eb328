// The sum of a whole array as CUB's DeviceReduce takes it: tiles of 256 threads with vectors of four elements, which the
// blocks take in turn. The blocks' sums meet by an atomic each, or in a second launch of one block.
#include "device_wide.h"

constexpr int THREADS = 256, WARPS = THREADS / 32, WIDE = 4;

template <typename T> struct Vector;
template <> struct Vector<int> { using Type = int4; };
template <> struct Vector<signed char> { using Type = char4; };

// EACH elements a thread.
template <typename T, int EACH>
__device__ T of_tile(const T *tile)
{
    using Four = typename Vector<T>::Type;
    const Four *fours = reinterpret_cast<const Four *>(tile) + threadIdx.x;
    Four got[EACH / WIDE];
#pragma unroll
    for (int i = 0; i < EACH / WIDE; i++)
        got[i] = __ldg(fours + i * THREADS);
    T sum = 0;
#pragma unroll
    for (int i = 0; i < EACH / WIDE; i++)
        sum += got[i].x + got[i].y + got[i].z + got[i].w;
    return sum;
}

// A thread's sum of what its block takes. The last tile need not be full.
template <typename T, int EACH>
__device__ T of_thread(const T *from, unsigned n)
{
    constexpr unsigned TILE = THREADS * EACH;
    unsigned begin = blockIdx.x * TILE;
    T sum = 0;
    for (; begin + TILE <= n; begin += gridDim.x * TILE)
        sum += of_tile<T, EACH>(from + begin);
    if (begin < n)
        for (unsigned i = begin + threadIdx.x; i < n; i += THREADS)
            sum += from[i];
    return sum;
}

// Thread 0 adds up what the warps have.
__device__ int of_block(int value)
{
    __shared__ int sums[WARPS];
    int sum = __reduce_add_sync(ALL, value);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
#pragma unroll
        for (int warp = 1; warp < WARPS; warp++)
            sum += sums[warp];
    return sum;
}

// The warps add theirs to the first one's, in any order.
__device__ int of_block_by_atomics(int value)
{
    __shared__ int total;
    int sum = __reduce_add_sync(ALL, value);
    if (threadIdx.x == 0)
        total = sum;
    __syncthreads();
    if (threadIdx.x % 32 == 0 && threadIdx.x > 0)
        atomicAdd(&total, sum);
    __syncthreads();
    return total;
}

// `sum` is 0 before.
__global__ void __launch_bounds__(THREADS) by_atomics(const int *from, int *sum, unsigned n)
{
    int own = of_block_by_atomics(of_thread<int, 16>(from, n));
    if (threadIdx.x == 0)
        atomicAdd(sum, own);
}

// A number a block, at its place. Of bytes 32 a thread, and their sum is a byte.
template <typename T, int EACH>
__global__ void __launch_bounds__(THREADS) by_blocks(const T *from, T *sums, unsigned n)
{
    T own = of_block(of_thread<T, EACH>(from, n));
    if (threadIdx.x == 0)
        sums[blockIdx.x] = own;
}
