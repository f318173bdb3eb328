// Each thread writes its results, then counts itself as done, so that another kernel or block can take them.
//
// LAUNCH: publish<<<216, 128>>>(in: u32[27648]=random, out: u32[16,27648], done: u32[216], 16)

__global__ void publish(const unsigned *in, unsigned *out, unsigned *done, int results)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    unsigned x = in[i] + i;
    for (int k = 0; k < results; k++) {
        x = x * 69069u + 1u;
        out[k * n + i] = x;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&done[blockIdx.x], 1u);
}
