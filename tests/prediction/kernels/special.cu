// Arithmetic of the narrower units.
#include <cuda_fp16.h>

__global__ void sines(float *data, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = data[i], sum = 0;
    for (int k = 0; k < turns; k++) {
        sum += __sinf(x) + __expf(-x);
        x += 0.5f;
    }
    data[i] = sum;
}

__global__ void polynomial64(double *data, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = data[i], sum = 1;
    for (int k = 0; k < turns; k++)
        sum = (sum * x + 0.5) * x + 0.25;
    data[i] = sum;
}

__global__ void hashes(unsigned *data, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = data[i];
    for (int k = 0; k < turns; k++) {
        x ^= x >> 16;
        x *= 0x7feb352du;
        x ^= x >> 15;
        x *= 0x846ca68bu;
    }
    data[i] = x;
}

__global__ void halves(half2 *data, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    half2 x = data[i], a = __float2half2_rn(0.5f), sum = a;
    for (int k = 0; k < turns; k++)
        sum = __hfma2(sum, x, a);
    data[i] = sum;
}

__global__ void divisions(float *data, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = data[i] + 1;
    for (int k = 0; k < turns; k++)
        x = 1.5f / x + 0.5f;
    data[i] = x;
}
