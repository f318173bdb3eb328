// Loads that wait for each other.

// A ring of `n` words, each with the place of the next one, `stride` words on.
__global__ void make_ring(unsigned *ring, unsigned n, unsigned stride)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        ring[i] = (i + stride) % n;
}

__global__ void chase(const unsigned *ring, unsigned *out, int steps, unsigned apart)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = i * apart;
    for (int k = 0; k < steps; k++)
        at = ring[at];
    out[i] = at;
}

__global__ void chase_shared(unsigned *out, int steps)
{
    __shared__ unsigned ring[256];
    ring[threadIdx.x] = (threadIdx.x + 33) % 256;
    __syncthreads();
    unsigned at = threadIdx.x;
    for (int k = 0; k < steps; k++)
        at = ring[at];
    out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
