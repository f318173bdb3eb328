// Prefix sums and sorts of 256 and 512 elements a block.

__global__ void scan_shared(const int *in, int *out)
{
    __shared__ int part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = in[i];
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
        int before = t >= distance ? part[t - distance] : 0;
        __syncthreads();
        part[t] += before;
        __syncthreads();
    }
    out[i] = part[t];
}

__global__ void scan_warps(const int *in, int *out)
{
    __shared__ int ends[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 256 + threadIdx.x;
    int sum = in[i];
    for (int distance = 1; distance < 32; distance *= 2) {
        int before = __shfl_up_sync(0xffffffffu, sum, distance);
        if (lane >= distance)
            sum += before;
    }
    if (lane == 31)
        ends[warp] = sum;
    __syncthreads();
    for (int k = 0; k < warp; k++)
        sum += ends[k];
    out[i] = sum;
}

__global__ void sort_bitonic(const unsigned *in, unsigned *out)
{
    __shared__ unsigned key[512];
    int t = threadIdx.x, first = blockIdx.x * 512;
    key[t] = in[first + t];
    key[t + 256] = in[first + t + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int at = 2 * t - (t & (stride - 1));
            bool falling = (at & size) != 0;
            unsigned a = key[at], b = key[at + stride];
            if ((a > b) != falling) {
                key[at] = b;
                key[at + stride] = a;
            }
        }
    __syncthreads();
    out[first + t] = key[t];
    out[first + t + 256] = key[t + 256];
}

__global__ void sort_odd_even(int *data, int turns)
{
    __shared__ int key[256];
    int t = threadIdx.x, first = blockIdx.x * 256;
    key[t] = data[first + t];
    for (int k = 0; k < turns; k++) {
        __syncthreads();
        int at = 2 * t + (k & 1);
        if (t < 128 && at + 1 < 256 && key[at] > key[at + 1]) {
            int a = key[at];
            key[at] = key[at + 1];
            key[at + 1] = a;
        }
    }
    __syncthreads();
    data[first + t] = key[t];
}
