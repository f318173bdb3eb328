// 256 bins of bytes.
// LAUNCH: in_global<<<132, 512>>>(in: u8[524288]=random, bins: u32[256], 524288)
__global__ void in_global(const unsigned char *__restrict__ in, unsigned *bins, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1u);
}
// LAUNCH: in_shared<<<132, 512>>>(in, bins2: u32[256], 524288)
__global__ void in_shared(const unsigned char *__restrict__ in, unsigned *bins, int n)
{
    __shared__ unsigned mine[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], mine[b]);
}
