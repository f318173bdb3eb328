// y = a * x + y: two loads and a store for one multiply-add. Memory is the limit, and nothing else.
//
// LAUNCH: saxpy<<<256, 256>>>(65536, 2.0, f32[65536]=random, f32[65536]=ones)

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
