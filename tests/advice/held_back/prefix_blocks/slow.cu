// Prefix sums of segments of 512 elements; a block does four segments.
//
// LAUNCH: scan<<<216, 512>>>(in: u32[864,512]=random, scanned: u32[864,512], 4)

constexpr int THREADS = 512;

__device__ unsigned inclusive(unsigned x)
{
    __shared__ unsigned part[THREADS];
    int t = threadIdx.x;
    part[t] = x;
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2) {
        unsigned before = t >= distance ? part[t - distance] : 0;
        __syncthreads();
        part[t] += before;
        __syncthreads();
    }
    return part[t];
}

__global__ void scan(const unsigned *in, unsigned *scanned, int segments)
{
    for (int k = 0; k < segments; k++) {
        int i = (blockIdx.x * segments + k) * THREADS + threadIdx.x;
        unsigned x = inclusive(in[i]);
        scanned[i] = x;
        __syncthreads();
    }
}
