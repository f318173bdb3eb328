// C (16 x 16) = A (16 x K) * B (K x 16), for a K that is much longer than either side.
//
// LAUNCH: project<<<64, (16, 16)>>>(a: f32[16,2048]=random, b: f32[2048,16]=random, c: f32[16,16], 2048)

__global__ void project(const float *a, const float *b, float *c, int depth)
{
    int col = threadIdx.x, row = threadIdx.y;
    float sum = 0;
    for (int k = blockIdx.x; k < depth; k += gridDim.x)
        sum += a[row * depth + k] * b[k * 16 + col];
    atomicAdd(&c[row * 16 + col], sum);
}
