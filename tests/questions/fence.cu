// Reads the same words again and again; the second kernel has a fence between the rounds.
// LAUNCH: plain<<<20, 128>>>(x: f32[2560]=random, y: f32[2560], 32)
__global__ void plain(const float *x, float *y, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x; float s = 0;
    for (int r = 0; r < rounds; r++) { s += x[i] * r; asm volatile("" ::: "memory"); }
    y[i] = s;
}
// LAUNCH: fenced<<<20, 128>>>(x, y, 32)
__global__ void fenced(const float *x, float *y, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x; float s = 0;
    for (int r = 0; r < rounds; r++) { s += x[i] * r; __threadfence(); }
    y[i] = s;
}
