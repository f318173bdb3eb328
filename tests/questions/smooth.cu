// LAUNCH: smooth<<<64, 256>>>(x: f32[16384]=random, y: f32[16384], 16384, 32)
__global__ void smooth(const float *x, float *y, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int r = 0; r < rounds; r++) v = v * 0.99f + 0.01f * x[(i + r) % n];
    y[i] = v;
}
