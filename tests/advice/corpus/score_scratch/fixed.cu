// Scores of documents, 32 a group: each term of a group leads to the next, and to a line of weights. A block needs
// 4 bytes of scratch a thread.
//
// LAUNCH: score<<<640, 128, 512>>>(weights: f32[65536]=random, terms: u32[65536]=random, scores: f32[81920], 12)

extern __shared__ float scratch[];

__device__ unsigned place_of(unsigned term, unsigned step, unsigned group)
{
    return (term * 251 + step * 8191 + group * 37) % 2048 * 32;
}

__global__ void score(const float *weights, const unsigned *terms, float *scores, int length)
{
    unsigned document = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned group = document / 32, lane = document % 32, place = group % 2048 * 32;
    scratch[threadIdx.x] = 0;
    for (int step = 0; step < length; step++) {
        place = place_of(terms[place], step, group);
        scratch[threadIdx.x] += weights[place + lane];
    }
    scores[document] = scratch[threadIdx.x];
}
