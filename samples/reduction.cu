// The sum of an array: each block writes the sum of its own 256 elements.
//
// divergent:   active threads lie apart, so every warp runs every step with fewer and fewer lanes.
// interleaved: active threads lie together, but their addresses stride over the banks.
// sequential:  neighbours read neighbours: no bank conflicts, whole warps drop out.
// shuffle:     a warp adds up in registers; shared memory carries one value per warp.
//
// LAUNCH: divergent<<<256, 256>>>(in: f32[65536]=random, divergent_sums: f32[256])
// LAUNCH: interleaved<<<256, 256>>>(in, interleaved_sums: f32[256])
// LAUNCH: sequential<<<256, 256>>>(in, sequential_sums: f32[256])
// LAUNCH: shuffle<<<256, 256>>>(in, shuffle_sums: f32[256])

constexpr int THREADS = 256;

__global__ void divergent(const float *in, float *sums)
{
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int stride = 1; stride < THREADS; stride *= 2) {
        if (t % (2 * stride) == 0)
            part[t] += part[t + stride];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = part[0];
}

__global__ void interleaved(const float *in, float *sums)
{
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int stride = 1; stride < THREADS; stride *= 2) {
        int i = 2 * stride * t;
        if (i < THREADS)
            part[i] += part[i + stride];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = part[0];
}

__global__ void sequential(const float *in, float *sums)
{
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (t < stride)
            part[t] += part[t + stride];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = part[0];
}

__device__ float warp_sum(float x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_down_sync(0xffffffff, x, distance);
    return x;
}

__global__ void shuffle(const float *in, float *sums)
{
    __shared__ float part[THREADS / 32];
    int t = threadIdx.x;
    float x = warp_sum(in[blockIdx.x * THREADS + t]);
    if (t % 32 == 0)
        part[t / 32] = x;
    __syncthreads();
    if (t < 32) {
        x = warp_sum(t < THREADS / 32 ? part[t] : 0.0f);
        if (t == 0)
            sums[blockIdx.x] = x;
    }
}
