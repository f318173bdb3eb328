// At how many places of each block's stretch of text a motif occurs nearly: its first symbol does, and the rest differs
// by little.
//
// LAUNCH: find<<<216, 256>>>(text: u32[221440]=random, motif: u32[48]=random, hits: u32[216])

constexpr int LENGTH = 48;
constexpr int STRETCH = 1024;

__device__ bool nearly(const unsigned *text, const unsigned *motif)
{
    unsigned distance = 0;
    for (int k = 1; k < LENGTH; k++) {
        unsigned a = text[k], b = motif[k];
        distance += __popc(a ^ b) + (a > b ? a - b : b - a) % 3;
    }
    return distance < 5 * LENGTH;
}

__global__ void find(const unsigned *text, const unsigned *motif, unsigned *hits)
{
    __shared__ unsigned found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < STRETCH; k += blockDim.x) {
        int i = blockIdx.x * STRETCH + k;
        if (text[i] == motif[0] || text[i] < 16)
            if (nearly(text + i, motif))
                atomicAdd(&found, 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        hits[blockIdx.x] = found;
}
