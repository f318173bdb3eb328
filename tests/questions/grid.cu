// Adds one to each element; the second kernel's blocks go through the matrix column by column.
// LAUNCH: across<<<(64, 64), (32, 32)>>>(m: f32[2048,2048], 2048)
__global__ void across(float *m, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) m[(size_t)y * n + x] += 1;
}
// LAUNCH: down<<<(64, 64), (32, 32)>>>(m, 2048)
__global__ void down(float *m, int n)
{
    int x = blockIdx.y * blockDim.x + threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y;
    if (x < n && y < n) m[(size_t)y * n + x] += 1;
}
