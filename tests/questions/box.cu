// Residual r = f - A v of a 27-point operator on an n x n x n grid with a border of one.
// One thread a point; the four weights come from memory, or are written into the code.

template <bool FROM_MEMORY>
__device__ __forceinline__ double weight(const double *weights, int kind)
{
    if (FROM_MEMORY) return weights[kind];
    constexpr double fixed[4] = {2.66666666666, -0.0123, -0.16666666, -0.0833333};
    return fixed[kind];
}

template <bool FROM_MEMORY>
__device__ void residual(const double *v, const double *f, double *r, const double *weights, int n)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n * n * n) return;
    int x = index % n + 1, y = index / n % n + 1, z = index / (n * n) + 1;
    int m = n + 2;
    double sum = 0;
#pragma unroll
    for (int dz = -1; dz <= 1; dz++)
#pragma unroll
        for (int dy = -1; dy <= 1; dy++)
#pragma unroll
            for (int dx = -1; dx <= 1; dx++)
                sum += weight<FROM_MEMORY>(weights, dz * dz + dy * dy + dx * dx) * v[((z + dz) * m + y + dy) * m + x + dx];
    r[(z * m + y) * m + x] = f[(z * m + y) * m + x] - sum;
}

// LAUNCH: from_memory<<<128, 256>>>(v: f64[34,34,34]=random, f: f64[34,34,34]=random, r: f64[34,34,34], w: f64[4]=random, 32)
__global__ void from_memory(const double *__restrict__ v, const double *__restrict__ f, double *__restrict__ r, const double *__restrict__ w, int n)
{
    residual<true>(v, f, r, w, n);
}

// LAUNCH: in_code<<<128, 256>>>(v, f, r, w, 32)
__global__ void in_code(const double *__restrict__ v, const double *__restrict__ f, double *__restrict__ r, const double *__restrict__ w, int n)
{
    residual<false>(v, f, r, w, n);
}
