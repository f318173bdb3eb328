// A filter of 64 taps; signal and taps are in shared memory.
//
// LAUNCH: filter<<<320, 128>>>(in: f32[163904]=random, taps: f32[64]=random, out: f32[163840])

constexpr int TAPS = 64;
constexpr int OUTPUTS = 512;

__global__ void filter(const float *in, const float *taps, float *out)
{
    __shared__ float signal[OUTPUTS + TAPS], weight[TAPS];
    int first = blockIdx.x * OUTPUTS;
    for (int i = threadIdx.x; i < OUTPUTS + TAPS; i += blockDim.x)
        signal[i] = in[first + i];
    for (int i = threadIdx.x; i < TAPS; i += blockDim.x)
        weight[i] = taps[i];
    __syncthreads();
    float sum[4] = {};
    for (int k = 0; k < TAPS; k++)
        for (int j = 0; j < 4; j++)
            sum[j] += signal[threadIdx.x + 128 * j + k] * weight[k];
    for (int j = 0; j < 4; j++)
        out[first + threadIdx.x + 128 * j] = sum[j];
}
