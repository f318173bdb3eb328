// Adds up the largest of the last eight values of each signal, step by step; signals lie side by side.
//
// LAUNCH: window<<<160, 256>>>(signal: i32[24,40960]=random, out: i32[40960], 24)

constexpr int WINDOW = 8;

__device__ int largest(const int *ring)
{
    int best = ring[0];
    for (int k = 1; k < WINDOW; k++)
        best = max(best, ring[k]);
    return best;
}

__global__ void window(const int *signal, int *out, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    int ring[WINDOW] = {}, sum = 0;
    for (int k = 0; k < steps; k++) {
        for (int j = 1; j < WINDOW; j++)
            ring[j - 1] = ring[j];
        ring[WINDOW - 1] = signal[k * n + i];
        sum += largest(ring);
    }
    out[i] = sum;
}
