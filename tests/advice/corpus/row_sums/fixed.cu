// Sums of rows of 256 elements, of any integer type; a block does eight rows.
//
// LAUNCH: row_sums<int><<<160, 256>>>(in: i32[1280,256]=random, sums: i32[1280], 8)

constexpr int THREADS = 256;

template <typename T> __device__ T block_sum(T x)
{
    __shared__ T part[THREADS];
    int t = threadIdx.x;
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_down_sync(0xffffffff, x, distance);
    if (t % 32 == 0)
        part[t / 32] = x;
    __syncthreads();
    T sum = 0;
    for (int warp = 0; warp < THREADS / 32; warp++)
        sum += part[warp];
    return sum;
}

template <typename T> __global__ void row_sums(const T *in, T *sums, int rows)
{
    for (int k = 0; k < rows; k++) {
        int row = blockIdx.x * rows + k;
        T sum = block_sum(in[row * THREADS + threadIdx.x]);
        if (threadIdx.x == 0)
            sums[row] = sum;
        __syncthreads();
    }
}
