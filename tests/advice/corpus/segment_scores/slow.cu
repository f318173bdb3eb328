// A running score over segments of 32 symbols; a block stages its segments in shared memory.
//
// LAUNCH: scores_of<<<432, 64>>>(symbols: u32[884736]=random, scores: u32[27648])

constexpr int SEGMENT = 32;
constexpr int SEGMENTS = 64;
constexpr int PITCH = SEGMENT;

__global__ void scores_of(const unsigned *symbols, unsigned *scores)
{
    __shared__ unsigned staged[SEGMENTS * PITCH];
    const unsigned *mine = symbols + blockIdx.x * SEGMENTS * SEGMENT;
    for (int e = threadIdx.x; e < SEGMENTS * SEGMENT; e += SEGMENTS)
        staged[e / SEGMENT * PITCH + e % SEGMENT] = mine[e];
    __syncthreads();
    unsigned score = 0;
    for (int k = 0; k < SEGMENT; k++)
        score = score * 3 + staged[threadIdx.x * PITCH + k];
    scores[blockIdx.x * SEGMENTS + threadIdx.x] = score;
}
