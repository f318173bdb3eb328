// Pseudo-random numbers of <random> on the host and the same recurrence in a kernel.
#include "check.h"
#include <random>
#include <vector>
__host__ __device__ unsigned next(unsigned &state) { return state = state * 1664525u + 1013904223u; }
__host__ __device__ int hits(unsigned state, int n)
{
    int inside = 0;
    for (int i = 0; i < n; ++i) {
        const float x = next(state) * 0x1p-32f, y = next(state) * 0x1p-32f;
        inside += x * x + y * y < 1.0f;
    }
    return inside;
}
__global__ void throw_all(const unsigned *seeds, int *out, int n) { out[threadIdx.x] = hits(seeds[threadIdx.x], n); }
int main()
{
    std::mt19937 generator(5489);
    std::vector<unsigned> seeds(128);
    for (auto &each : seeds)
        each = generator();
    unsigned *device;
    int *out, got[128];
    CHECK(cudaMalloc(&device, sizeof(unsigned) * 128));
    CHECK(cudaMalloc(&out, sizeof got));
    CHECK(cudaMemcpy(device, seeds.data(), sizeof(unsigned) * 128, cudaMemcpyHostToDevice));
    throw_all<<<1, 128>>>(device, out, 50);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    bool is_right = seeds[0] == 3499211612u;
    for (int i = 0; i < 128; ++i)
        is_right &= abs(got[i] - hits(seeds[i], 50)) <= 1;
    return verdict(is_right);
}
