// Managed memory with advice and prefetching; a managed variable; host and device take turns.
#include "check.h"
struct Particle {
    float position, speed;
};
__managed__ int n_steps = 0;
__global__ void move(Particle *particles, int n, float seconds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        particles[i].position += particles[i].speed * seconds;
        if (particles[i].position > 8)
            particles[i].speed = -particles[i].speed;
    }
    if (i == 0)
        ++n_steps;
}
int main()
{
    const int n = 70;
    Particle *particles, expected[n];
    CHECK(cudaMallocManaged(&particles, n * sizeof *particles));
    for (int i = 0; i < n; ++i)
        expected[i] = particles[i] = {float(i % 7), float(i % 3)};
    CHECK(cudaMemAdvise(particles, n * sizeof *particles, cudaMemAdviseSetPreferredLocation, 0));
    for (int step = 0; step < 6; ++step) {
        CHECK(cudaMemPrefetchAsync(particles, n * sizeof *particles, 0, 0));
        move<<<2, 64>>>(particles, n, 0.5f);
        CHECK(cudaDeviceSynchronize());
        particles[step].speed += 1; // by the host, between launches
        for (Particle &each : expected) {
            each.position += each.speed * 0.5f;
            if (each.position > 8)
                each.speed = -each.speed;
        }
        expected[step].speed += 1;
    }
    CHECK(cudaMemPrefetchAsync(particles, n * sizeof *particles, cudaCpuDeviceId, 0));
    CHECK(cudaDeviceSynchronize());
    bool is_right = n_steps == 6;
    for (int i = 0; i < n; ++i)
        is_right &= particles[i].position == expected[i].position && particles[i].speed == expected[i].speed;
    CHECK(cudaFree(particles));
    return verdict(is_right);
}
