// Grids far larger than their data: nearly all threads find that they have nothing to do.

__global__ void ramp(float *out, int n, float from, float by)
{
    int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
    int step_x = blockDim.x * gridDim.x, step_y = blockDim.y * gridDim.y;
    for (int j = y; j < n >> 1; j += step_y)
        for (int i = x; i < n >> 1; i += step_x) {
            int place = j * 32 + i;
            if (place < n)
                out[place] = place * by + from;
        }
}

__global__ void three_sines(float *out, float *time, int n, float f, float g, float h)
{
    int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
    int step_x = blockDim.x * gridDim.x, step_y = blockDim.y * gridDim.y;
    f *= 6.283185307179586, g *= 6.283185307179586, h *= 6.283185307179586; // in f64, as in the report
    for (int j = y; j < n >> 1; j += step_y)
        for (int i = x; i < n >> 1; i += step_x) {
            int place = j * 32 + i;
            if (place < n) {
                float t = time[place];
                out[place] = __sinf(f * t) + __sinf(g * t) + __sinf(h * t);
            }
        }
}

__global__ void modulated(float *out, const float *__restrict__ time, const float *__restrict__ sum, float carrier,
                          float deviation, unsigned n, float rate)
{
    unsigned x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
    unsigned step_x = blockDim.x * gridDim.x, step_y = blockDim.y * gridDim.y;
    for (unsigned j = y; j < n; j += step_y)
        for (unsigned i = x; i < n; i += step_x) {
            unsigned place = j * 32 + i;
            if (place < n << 1) {
                float p = carrier * time[place], q = deviation * __fdividef(sum[place], rate);
                out[place] = __cosf(p) * __cosf(q) - __sinf(p) * __sinf(q);
            }
        }
}
