// Streams: sums of vectors, a copy of pairs, dot products.

__global__ void add_vectors(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ void add_aliased(float *a, float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

// Two neighbours a thread, as two accesses of a word each.
__global__ void copy_pairs(float *__restrict__ to, const float *__restrict__ from, float *unused, int m, int k, int n)
{
    int place = ((blockIdx.y * blockDim.y + threadIdx.y) * n + blockIdx.x * blockDim.x + threadIdx.x) * 2;
    to[place] = from[place];
    to[place + 1] = from[place + 1];
}

__global__ void dot_by_atomics(float *a, float *b, float *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, a[i] * b[i]);
}

__global__ void dot_by_blocks(float *a, float *b, float *sums, int n)
{
    extern __shared__ float products[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int me = threadIdx.x;
    float product = 0;
    if (i < n)
        product = a[i] * b[i];
    products[me] = product;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (me < half)
            products[me] += products[me + half];
        __syncthreads();
    }
    if (me == 0)
        sums[blockIdx.x] = products[0];
}
