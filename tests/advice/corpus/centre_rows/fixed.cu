// Subtracts from each row of 256 its mean.
//
// LAUNCH: centre<<<160, 256>>>(in: f32[160,256]=random, out: f32[160,256])

constexpr int LENGTH = 256;

__global__ void centre(const float *in, float *out)
{
    const float *row = in + blockIdx.x * LENGTH;
    __shared__ float parts[LENGTH / 32];
    float sum = row[threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    float mean = 0;
    for (int k = 0; k < LENGTH / 32; k++)
        mean += parts[k];
    mean /= LENGTH;
    out[blockIdx.x * LENGTH + threadIdx.x] = row[threadIdx.x] - mean + 1;
}
