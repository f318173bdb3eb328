// Layer norm of rows of 1024 elements: a block of 64 threads a row, each with a slice in an array of its own.
//
// LAUNCH: normalise<16><<<384, 64>>>(in: f32[384,1024]=random, out: f32[384,1024], 0.00001)

constexpr int MOST = 16;
constexpr int THREADS = 64;

__device__ float block_sum(float x)
{
    __shared__ float parts[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    __syncthreads();
    parts[threadIdx.x / 32] = x;
    __syncthreads();
    return parts[0] + parts[1];
}

template <int slice> __global__ void normalise(const float *in, float *out, float epsilon)
{
    float mine[MOST], sum = 0, squares = 0;
    int row = blockIdx.x * slice * THREADS;
    for (int k = 0; k < slice; k++) {
        mine[k] = in[row + k * THREADS + threadIdx.x];
        sum += mine[k];
    }
    float mean = block_sum(sum) / (slice * THREADS);
    for (int k = 0; k < slice; k++)
        squares += (mine[k] - mean) * (mine[k] - mean);
    float scale = rsqrtf(block_sum(squares) / (slice * THREADS) + epsilon);
    for (int k = 0; k < slice; k++)
        out[row + k * THREADS + threadIdx.x] = 8 + (mine[k] - mean) * scale;
}
