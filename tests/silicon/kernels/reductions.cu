// Sums of a vector, a block one sum, and sums of a matrix by rows and by columns.

constexpr unsigned ALL = 0xffffffffu;

// A grid-stride loop into shared memory, a tree, one atomic a block.
template <int COUNT>
__global__ void tree_and_atomic(float *in, float *sum)
{
    __shared__ float part[256];
    int thread = threadIdx.x;
    part[thread] = 0.0f;
    size_t i = threadIdx.x + blockDim.x * blockIdx.x;
    while (i < COUNT) {
        part[thread] += in[i];
        i += gridDim.x * blockDim.x;
    }
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        __syncthreads();
        if (thread < s)
            part[thread] += part[thread + s];
    }
    if (thread == 0)
        atomicAdd(sum, part[0]);
}

// The same with shuffles: within each warp, then of the warps' sums.
template <int COUNT>
__global__ void shuffles_and_atomic(float *in, float *sum)
{
    __shared__ float part[32];
    int thread = threadIdx.x;
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    float value = 0.0f;
    while (i < (size_t)COUNT) {
        value += in[i];
        i += gridDim.x * blockDim.x;
    }
    for (int offset = warpSize / 2; offset > 0; offset >>= 1)
        value += __shfl_down_sync(ALL, value, offset);
    if (lane == 0)
        part[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = thread < blockDim.x / warpSize ? part[lane] : 0;
        for (int offset = warpSize / 2; offset > 0; offset >>= 1)
            value += __shfl_down_sync(ALL, value, offset);
        if (thread == 0)
            atomicAdd(sum, value);
    }
}

// A thread a row of `columns` elements, `pitch` apart from the next row.
__global__ void rows(const float *matrix, float *sums, size_t pitch, size_t columns)
{
    size_t row = threadIdx.x + blockDim.x * blockIdx.x;
    if (row < pitch) {
        float sum = 0.0f;
        for (size_t i = 0; i < columns; i++)
            sum += matrix[row * pitch + i];
        sums[row] = sum;
    }
}

// A thread a column of `rows` elements.
__global__ void columns(const float *matrix, float *sums, size_t pitch, size_t rows)
{
    size_t column = threadIdx.x + blockDim.x * blockIdx.x;
    if (column < pitch) {
        float sum = 0.0f;
        for (size_t i = 0; i < rows; i++)
            sum += matrix[column + pitch * i];
        sums[column] = sum;
    }
}

// The ladder of one block of 256 threads a piece of the vector, one sum a block.

// Every second thread, every fourth, ...: the warps diverge.
__global__ void tree_diverging(float *in, float *out)
{
    __shared__ float part[256];
    unsigned thread = threadIdx.x;
    part[thread] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (thread % (2 * s) == 0)
            part[thread] += part[thread + s];
        __syncthreads();
    }
    if (thread == 0)
        out[blockIdx.x] = part[0];
}

// The first threads, on elements ever further apart: banks conflict.
__global__ void tree_conflicting(float *in, float *out)
{
    __shared__ float part[256];
    unsigned thread = threadIdx.x;
    part[thread] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        int at = 2 * s * thread;
        if (at < blockDim.x)
            part[at] += part[at + s];
        __syncthreads();
    }
    if (thread == 0)
        out[blockIdx.x] = part[0];
}

// The first threads, on neighbours.
__global__ void tree(float *in, float *out)
{
    __shared__ float part[256];
    unsigned thread = threadIdx.x;
    part[thread] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (thread < s)
            part[thread] += part[thread + s];
        __syncthreads();
    }
    if (thread == 0)
        out[blockIdx.x] = part[0];
}

// Two elements are added as they are loaded.
__global__ void tree_of_pairs(float *in, float *out)
{
    __shared__ float part[256];
    unsigned thread = threadIdx.x, i = blockIdx.x * (2 * blockDim.x) + threadIdx.x;
    part[thread] = in[i] + in[i + blockDim.x];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (thread < s)
            part[thread] += part[thread + s];
        __syncthreads();
    }
    if (thread == 0)
        out[blockIdx.x] = part[0];
}

// The last warp works without barriers.
template <class T>
__device__ void last_warp(volatile T *part, unsigned thread)
{
    part[thread] += part[thread + 32];
    part[thread] += part[thread + 16];
    part[thread] += part[thread + 8];
    part[thread] += part[thread + 4];
    part[thread] += part[thread + 2];
    part[thread] += part[thread + 1];
}

__global__ void tree_last_warp(float *in, float *out)
{
    __shared__ float part[256];
    unsigned thread = threadIdx.x, i = blockIdx.x * (2 * blockDim.x) + threadIdx.x;
    part[thread] = in[i] + in[i + blockDim.x];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
        if (thread < s)
            part[thread] += part[thread + s];
        __syncthreads();
    }
    if (thread < 32)
        last_warp(part, thread);
    if (thread == 0)
        out[blockIdx.x] = part[0];
}

// The steps of a block of 256 threads, written out.
__device__ void written_out(float *part, unsigned thread, float *out)
{
    __syncthreads();
    if (thread < 128)
        part[thread] += part[thread + 128];
    __syncthreads();
    if (thread < 64)
        part[thread] += part[thread + 64];
    __syncthreads();
    if (thread < 32)
        last_warp(part, thread);
    if (thread == 0)
        out[blockIdx.x] = part[0];
}

__global__ void tree_written_out(float *in, float *out)
{
    __shared__ float part[256];
    unsigned thread = threadIdx.x, i = blockIdx.x * (2 * blockDim.x) + threadIdx.x;
    part[thread] = in[i] + in[i + blockDim.x];
    written_out(part, thread, out);
}

// So many elements a thread.
template <int EACH>
__global__ void tree_of_many(float *in, float *out)
{
    __shared__ float part[256];
    unsigned thread = threadIdx.x, i = blockIdx.x * (256 * EACH) + threadIdx.x;
    part[thread] = 0;
#pragma unroll
    for (int e = 0; e < EACH; e++)
        part[thread] += in[i + e * 256];
    written_out(part, thread, out);
}

template <int LANES>
__device__ float shuffled(float sum)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        if (LANES >= 2 * offset)
            sum += __shfl_down_sync(ALL, sum, offset);
    return sum;
}

template <int EACH>
__global__ void shuffles_of_many(float *in, float *out)
{
    __shared__ float part[32];
    unsigned i = blockIdx.x * (256 * EACH) + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int e = 0; e < EACH; e++)
        sum += in[i + e * 256];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    sum = shuffled<32>(sum);
    if (lane == 0)
        part[warp] = sum;
    __syncthreads();
    sum = threadIdx.x < blockDim.x / 32 ? part[lane] : 0;
    if (warp == 0)
        sum = shuffled<8>(sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

// The first thread adds what the block has loaded, as integers.
__global__ void first_thread(float *in, float *sum, int n)
{
    __shared__ int part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    part[threadIdx.x] = in[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        int all = 0;
        for (int j = 0; j < 256; j++)
            all += part[j];
        atomicAdd(sum, all);
    }
}

// A tree between two arrays, as integers; threads leave as soon as they have nothing to add.
__global__ void tree_of_leavers(float *in, float *sum, int n)
{
    __shared__ int even[256], odd[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int *from = even, *to = odd;
    even[threadIdx.x] = in[i];
    __syncthreads();
#pragma unroll
    for (int left = 128; left > 0; left /= 2) {
        if (threadIdx.x >= left)
            return;
        to[threadIdx.x] = from[2 * threadIdx.x] + from[2 * threadIdx.x + 1];
        if (left > 1)
            __syncthreads();
        int *last = from;
        from = to;
        to = last;
    }
    atomicAdd(sum, from[threadIdx.x]);
}

// Integers, blocks of 128 threads that know their size at run time; the tree in global memory, in place.
__global__ void tree_in_global(int *in, int *out, const unsigned n)
{
    unsigned thread = threadIdx.x;
    int *own = in + blockDim.x * blockIdx.x;
    if (blockDim.x * blockIdx.x + threadIdx.x >= n)
        return;
    if (blockDim.x >= 1024 && thread < 512)
        own[thread] += own[thread + 512];
    __syncthreads();
    if (blockDim.x >= 512 && thread < 256)
        own[thread] += own[thread + 256];
    __syncthreads();
    if (blockDim.x >= 256 && thread < 128)
        own[thread] += own[thread + 128];
    __syncthreads();
    if (blockDim.x >= 128 && thread < 64)
        own[thread] += own[thread + 64];
    __syncthreads();
    if (thread < 32)
        last_warp(own, thread);
    if (thread == 0)
        out[blockIdx.x] = own[0];
}

__device__ void tree_of_unknown_size(int *part, int *out)
{
    unsigned thread = threadIdx.x;
    __syncthreads();
    if (blockDim.x >= 1024 && thread < 512)
        part[thread] += part[thread + 512];
    __syncthreads();
    if (blockDim.x >= 512 && thread < 256)
        part[thread] += part[thread + 256];
    __syncthreads();
    if (blockDim.x >= 256 && thread < 128)
        part[thread] += part[thread + 128];
    __syncthreads();
    if (blockDim.x >= 128 && thread < 64)
        part[thread] += part[thread + 64];
    __syncthreads();
    if (thread < 32)
        last_warp(part, thread);
    if (thread == 0)
        out[blockIdx.x] = part[0];
}

__global__ void tree_in_shared(int *in, int *out, const unsigned n)
{
    __shared__ int part[128];
    unsigned i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n)
        return;
    part[threadIdx.x] = in[i];
    tree_of_unknown_size(part, out);
}

__device__ int sum_of_four(const int *in, unsigned n)
{
    unsigned i = 4 * blockDim.x * blockIdx.x + threadIdx.x;
    if (i + 3 * blockDim.x >= n)
        return 0;
    int a = in[i], b = in[i + blockDim.x], c = in[i + 2 * blockDim.x], d = in[i + 3 * blockDim.x];
    return a + b + c + d;
}

__global__ void tree_of_four(int *in, int *out, const unsigned n)
{
    __shared__ int part[128];
    part[threadIdx.x] = sum_of_four(in, n);
    tree_of_unknown_size(part, out);
}

__global__ void tree_of_four_dynamic(int *in, int *out, const unsigned n)
{
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = sum_of_four(in, n);
    tree_of_unknown_size(dynamic, out);
}
