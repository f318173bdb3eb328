// Reads of a data set that all blocks share, chunk by chunk; fills and copies of vectors.

constexpr int LOADS = 64;

// A block of 1024 reads one of `chunks` chunks of 512 KB, which lie in turns of 16 KB. Of the `resident` blocks that
// start together, each reads one part more than the one before it: in a launch of many blocks they end one by one.
__global__ void read_chunk(double *out, const double *__restrict__ in, int chunks, int resident)
{
    const double *chunk = in + size_t(blockIdx.x % chunks) * 2048 + threadIdx.x;
    const int parts = blockIdx.x < resident ? (blockIdx.x + 1) * LOADS / 2 / resident : LOADS / 2;
    double sum = 0;
#pragma unroll 8
    for (int i = LOADS / 2 - parts; i < LOADS / 2; ++i) {
        const double *part = chunk + size_t(i) * chunks * 2048;
        sum += part[0] * part[1024];
    }
    if (sum == 123.0)
        out[threadIdx.x] = sum;
}

__global__ void fill(float4 *to)
{
    to[size_t(blockIdx.x) * 256 + threadIdx.x] = make_float4(1, 2, 3, 4);
}

__global__ void copy(double *to, const double *from)
{
    size_t i = size_t(blockIdx.x) * 1024 + threadIdx.x;
    to[i] = from[i];
}

__global__ void sum_up(float *out, const float4 *from)
{
    float4 x = from[size_t(blockIdx.x) * 256 + threadIdx.x];
    if (x.x + x.y + x.z + x.w == 123.0f)
        out[0] = x.x;
}
