// Reads of a data set that all blocks share, chunk by chunk; fills and copies of vectors.

constexpr int LOADS = 64;

// A block of 1024 reads one of `chunks` chunks of 512 KB: the two of an SM different ones.
__global__ void read_chunk(double *out, const double *__restrict__ in, int chunks)
{
    const unsigned number = blockIdx.x + blockIdx.x / (gridDim.x / 2);
    const double *chunk = in + size_t(number % chunks) * LOADS * 1024 + threadIdx.x;
    double sum = 0;
#pragma unroll
    for (int i = 0; i < LOADS; ++i)
        sum += chunk[i * 1024];
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
