// Prefix sums of segments of 512 elements; a block does four segments.
//
// LAUNCH: scan<<<216, 512>>>(in: u32[864,512]=random, scanned: u32[864,512], 4)

constexpr int THREADS = 512;

__device__ unsigned inclusive(unsigned x)
{
    __shared__ unsigned part[THREADS];
    int t = threadIdx.x;
    int lane = t % 32, warp = t / 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        unsigned before = __shfl_up_sync(0xffffffff, x, distance);
        if (lane >= distance)
            x += before;
    }
    if (lane == 31)
        part[warp] = x;
    __syncthreads();
    unsigned total = lane < THREADS / 32 ? part[lane] : 0;
    unsigned before_warp = __reduce_add_sync(0xffffffff, lane < warp ? total : 0);
    return x + before_warp;
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
