// The sum of a vector of integers in steps: through shared memory and a second launch, with the last warp by itself, with an
// atomic addition, with more elements a thread, and with the last warp's sum by shuffles or by one instruction.

constexpr int THREADS = 512;

enum class Last { BARRIERS, WARP, SHUFFLES, REDUX };

// The sum of the block's values, in its first thread.
template <Last LAST> __device__ int sum_of_block(int *sums, int sum)
{
    const int thread = threadIdx.x;
    sums[thread] = sum;
    __syncthreads();
    if constexpr (LAST == Last::BARRIERS) {
        for (int half = THREADS / 2; half; half /= 2) {
            if (thread < half)
                sums[thread] += sums[thread + half];
            __syncthreads();
        }
        return thread == 0 ? sums[0] : 0;
    }
#pragma unroll
    for (int half = THREADS / 2; half > 32; half /= 2) {
        if (thread < half)
            sums[thread] += sums[thread + half];
        __syncthreads();
    }
    if constexpr (LAST == Last::WARP) {
        volatile int *seen = sums;
#pragma unroll
        for (int half = 32; half; half /= 2) {
            if (thread < half)
                seen[thread] += seen[thread + half];
            __syncwarp();
        }
        return thread == 0 ? seen[0] : 0;
    }
    int of_warp = 0;
    if (thread < 32) {
        of_warp = sums[thread] + sums[thread + 32];
        if constexpr (LAST == Last::REDUX) {
            of_warp = __reduce_add_sync(0xffffffff, of_warp);
        } else {
#pragma unroll
            for (int offset = 16; offset; offset /= 2)
                of_warp += __shfl_down_sync(0xffffffff, of_warp, offset);
        }
    }
    return of_warp;
}

// A sum a block; what more threads than elements there are add nothing.
template <Last LAST> __global__ void by_grid(const int *from, int *to, size_t n)
{
    __shared__ int sums[THREADS];
    int sum = 0;
    const int step = THREADS * gridDim.x;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += step)
        sum += from[i];
    sum = sum_of_block<LAST>(sums, sum);
    if (threadIdx.x == 0)
        to[blockIdx.x] = sum;
}

// EACH neighbouring elements a thread; with ZERO the first thread clears the sum that all blocks add to.
template <Last LAST, int EACH, bool ZERO> __global__ void by_atomics(const int *from, int *to, size_t n)
{
    __shared__ int sums[THREADS];
    int sum = 0;
    const int first = (blockIdx.x * THREADS + threadIdx.x) * EACH;
    if (ZERO && first == 0)
        *to = 0;
#pragma unroll
    for (int i = 0; i < EACH; ++i)
        if (first + i < n)
            sum += from[first + i];
    sum = sum_of_block<LAST>(sums, sum);
    if (threadIdx.x == 0)
        atomicAdd(to, sum);
}

// EACH fours of neighbouring elements a thread.
template <Last LAST, int EACH> __global__ void by_fours(const int4 *from, int *to, size_t n)
{
    __shared__ int sums[THREADS];
    int sum = 0;
    const int first = (blockIdx.x * THREADS + threadIdx.x) * EACH;
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const int4 four = from[first + i];
        if ((first + i) * 4 < n)
            sum += four.x + four.y + four.z + four.w;
    }
    sum = sum_of_block<LAST>(sums, sum);
    if (threadIdx.x == 0)
        atomicAdd(to, sum);
}
