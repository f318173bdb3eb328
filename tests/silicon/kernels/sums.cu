// Sums of a vector of integers to one value, as fast as its memory is read.

__device__ __forceinline__ int of_four(int4 four) { return four.x + four.y + four.z + four.w; }

__device__ __forceinline__ int sum_of_warp(int sum)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    return sum;
}

// BATCH elements a thread, a tree in shared memory, an atomic a block.
template <int THREADS, int BATCH> __global__ void tree_of_batches(const int *numbers, int *out, int n)
{
    __shared__ int sums[THREADS];
    const unsigned thread = threadIdx.x, first = blockIdx.x * THREADS * BATCH + thread;
    if (first == 0)
        *out = 0;
    int sum = first < n ? numbers[first] : 0;
#pragma unroll
    for (int j = 1; j < BATCH; ++j)
        if (first + j * THREADS < n)
            sum += numbers[first + j * THREADS];
    sums[thread] = sum;
    __syncthreads();
#pragma unroll
    for (int half = THREADS / 2; half > 32; half /= 2) {
        if (thread < half)
            sums[thread] += sums[thread + half];
        __syncthreads();
    }
    volatile int *of_warp = sums;
    if (thread < 32)
#pragma unroll
        for (int half = 32; half > 0; half /= 2)
            of_warp[thread] += of_warp[thread + half];
    if (thread == 0)
        atomicAdd(out, sums[0]);
}

// BATCH times four elements a thread, shuffles, an atomic in shared memory a warp, one in global memory a block.
template <int THREADS, int BATCH> __global__ void shuffles_of_batches(const int4 *numbers, int *out, int n)
{
    __shared__ int of_block;
    const unsigned thread = threadIdx.x, first = blockIdx.x * THREADS * BATCH + thread;
    if (first == 0)
        *out = 0;
    if (thread == 0)
        of_block = 0;
    int sum = first < n ? of_four(numbers[first]) : 0;
#pragma unroll
    for (int j = 1; j < BATCH; ++j)
        if (first + j * THREADS < n)
            sum += of_four(numbers[first + j * THREADS]);
    sum = sum_of_warp(sum);
    __syncthreads();
    if (thread % 32 == 0)
        atomicAdd(&of_block, sum);
    __syncthreads();
    if (thread == 0)
        atomicAdd(out, of_block);
}

// Each block adds tiles of 16 elements a thread, and leaves its sum: the first of the two kernels of cub::DeviceReduce.
__global__ void __launch_bounds__(256) sums_of_tiles(const int4 *__restrict__ numbers, int *out, int tiles)
{
    __shared__ int of_warps[8];
    const int thread = threadIdx.x;
    int sum = 0;
    for (int tile = blockIdx.x * tiles; tile < (blockIdx.x + 1) * tiles; ++tile) {
        int4 fours[4];
#pragma unroll
        for (int j = 0; j < 4; ++j)
            fours[j] = numbers[tile * 1024 + j * 256 + thread];
#pragma unroll
        for (int j = 0; j < 4; ++j)
            sum += of_four(fours[j]);
    }
    sum = sum_of_warp(sum);
    if (thread % 32 == 0)
        of_warps[thread / 32] = sum;
    __syncthreads();
    if (thread == 0) {
#pragma unroll
        for (int warp = 1; warp < 8; ++warp)
            sum += of_warps[warp];
        out[blockIdx.x] = sum;
    }
}
