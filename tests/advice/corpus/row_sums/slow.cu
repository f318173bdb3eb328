// Sums of rows of 256 elements, of any integer type; a block does eight rows.
//
// LAUNCH: row_sums<int><<<160, 256>>>(in: i32[1280,256]=random, sums: i32[1280], 8)

constexpr int THREADS = 256;

template <typename T> __device__ T block_sum(T x)
{
    __shared__ T part[THREADS];
    int t = threadIdx.x;
    part[t] = x;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (t < stride)
            part[t] += part[t + stride];
        __syncthreads();
    }
    return part[0];
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
