// The mean payoff of paths that random steps move, 8 paths a thread.
//
// LAUNCH: simulate<<<256, 128>>>(strikes: f32[32768]=random, payoffs: f32[32768], 8, 12)

__device__ unsigned next(unsigned state)
{
    state ^= state << 13;
    state ^= state >> 17;
    return state ^ state << 5;
}

__global__ void simulate(const float *strikes, float *payoffs, int paths, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = 2654435769u * (i + 1);
    float strike = strikes[i], sum = 0;
    for (int path = 0; path < paths; path++) {
        float value = 1;
        for (int step = 0; step < steps; step++) {
            state = next(state);
            float drift = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
            value *= 1.0f + 0.05f * drift;
        }
        sum += fmaxf(value - strike * 0.5f, 0.0f);
    }
    payoffs[i] = sum / paths;
}
