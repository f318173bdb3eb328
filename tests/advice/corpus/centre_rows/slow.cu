// Subtracts from each row of 256 its mean.
//
// LAUNCH: centre<<<160, 256>>>(in: f32[160,256]=random, out: f32[160,256])

constexpr int LENGTH = 256;

__global__ void centre(const float *in, float *out)
{
    const float *row = in + blockIdx.x * LENGTH;
    float mean = 0;
    for (int k = 0; k < LENGTH; k++)
        mean += row[k];
    mean /= LENGTH;
    out[blockIdx.x * LENGTH + threadIdx.x] = row[threadIdx.x] - mean + 1;
}
