// LAUNCH: walk<<<2, 48>>>(5, u32[96]=arange, out: u32[96])
// LAUNCH: twice<<<1, 96>>>(out)
struct Pair {
    int low;
    float scale;
};

__device__ int offsets[4] = {1, 2, 3, 4};

__device__ int mix(int a, Pair pair) {
    int result = a * pair.low;
    if (a & 1)
        result += offsets[a & 3];
    return result;
}

__global__ void walk(int turns, const unsigned *in, unsigned *out) {
    __shared__ int tile[48];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Pair pair = {3, 0.5f};
    tile[threadIdx.x] = in[i];
    __syncthreads();
    int sum = 0;
    for (int turn = 0; turn < turns; turn++) {
        int next = tile[(threadIdx.x + turn) % 48];
        if (next % 3 == 0)
            sum += mix(next, pair);
        else
            sum -= turn;
    }
    out[i] = sum;
}

__global__ void twice(unsigned *out) {
    out[threadIdx.x] *= 2;
}
