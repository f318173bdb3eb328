// Accesses to global memory whose neighbours in a warp are not neighbours in memory.

// One element a thread, in order.
__global__ void scale(float *out, float *in, size_t n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2.0f;
}

// One element a thread, `stride` apart; past the end it begins anew.
__global__ void scale_strided(float *out, float *in, size_t n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        size_t at = size_t(i) * stride % n;
        out[at] = in[at] * 2.0f;
    }
}

// The first elements of a permutation of 0 .. 2^bits - 1: rounds of a multiplication with an odd number and of an
// exclusive or with the upper half, each of which is a permutation.
__global__ void permute(int *order, int bits)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = (1u << bits) - 1, half = bits / 2;
    unsigned at = i;
    for (int round = 0; round < 4; ++round) {
        at = at * 0x9e3779b1u + 0x7f4a7c15u & mask;
        at ^= at >> half;
    }
    order[i] = at;
}

// One element a thread, where a permutation puts it.
__global__ void scale_ordered(float *out, float *in, int *order, size_t n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int at = order[i];
        out[at] = in[at] * 2.0f;
    }
}

// Reads and writes with strides of their own.
template <class T>
__global__ void increment_strided(const T *__restrict__ from, T *__restrict__ to, size_t n, size_t read, size_t write)
{
    const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i * write] = from[i * read] + 1;
}
