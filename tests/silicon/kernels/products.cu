// Matrix products in single precision, C = alpha * A * B + beta * C, as ladders of tuning publish them: each kernel
// does one step more. All matrices are row-major: A is m x k, B is k x n, C is m x n.

// One thread an element; the threads of a warp go down a column of C.
__global__ void naive(int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c)
{
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += a[row * k + i] * b[i * n + column];
        c[row * n + column] = alpha * sum + beta * c[row * n + column];
    }
}
