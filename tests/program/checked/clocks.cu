// The host's clock, events and a kernel's clock go forward together; a loop that waits for a time ends.
#include "check.h"
#include <chrono>
#include <thread>
__global__ void spin(long long *out)
{
    const long long begin = clock64();
    int x = threadIdx.x;
    for (int i = 0; i < 200; ++i)
        x = x * 1103515245 + 12345;
    *out = clock64() - begin + (x == 42);
}
int main()
{
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    cudaEvent_t first, last;
    long long *out, cycles;
    CHECK(cudaMalloc(&out, sizeof *out));
    CHECK(cudaEventCreate(&first));
    CHECK(cudaEventCreate(&last));
    CHECK(cudaEventRecord(first));
    spin<<<1, 32>>>(out);
    CHECK(cudaEventRecord(last));
    CHECK(cudaEventSynchronize(last));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, first, last));
    CHECK(cudaMemcpy(&cycles, out, sizeof cycles, cudaMemcpyDeviceToHost));
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    while (Clock::now() - begin < std::chrono::milliseconds(2)) {
    }
    const double host = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    return verdict(milliseconds >= 0 && milliseconds < host && cycles >= 0 && host >= 2);
}
