// Softmax of rows of 128 scores at eight temperatures, averaged; a warp does a row.
//
// LAUNCH: softmax<<<160, 256>>>(scores: f32[1280,128]=random, out: f32[1280,128], 2.0, 2.5)

__device__ float largest(float x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, distance));
    return x;
}

__device__ float total(float x)
{
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
}

__device__ float weight(float base, float score)
{
    return powf(base, score);
}

__global__ void softmax(const float *scores, float *out, float sharpness, float base)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float score[4], mean[4] = {};
    for (int k = 0; k < 4; k++)
        score[k] = sharpness * scores[row * 128 + k * 32 + lane];
    float top = largest(fmaxf(fmaxf(score[0], score[1]), fmaxf(score[2], score[3])));
    for (int cold = 1; cold <= 8; cold++) {
        float part[4];
        for (int k = 0; k < 4; k++)
            part[k] = weight(base, (score[k] - top) * cold);
        float share = 1.0f / (8 * total(part[0] + part[1] + part[2] + part[3]));
        for (int k = 0; k < 4; k++)
            mean[k] += part[k] * share;
    }
    for (int k = 0; k < 4; k++)
        out[row * 128 + k * 32 + lane] = mean[k];
}
