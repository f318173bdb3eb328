// Pieces of an array go through two streams that wait for each other's events; times of events are in order.
#include "check.h"
#include <algorithm>
#include <vector>
__global__ void scale(float *p, int n, float by)
{
    if (const int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)
        p[i] *= by;
}
int main()
{
    const int n_pieces = 4, n = 256;
    std::vector<float> host(n_pieces * n, 1), got(n_pieces * n);
    float *device;
    CHECK(cudaMalloc(&device, host.size() * sizeof(float)));
    cudaStream_t copies, work;
    CHECK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithPriority(&work, cudaStreamNonBlocking, -1));
    cudaEvent_t begin, end, there[n_pieces], done[n_pieces];
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin, copies));
    for (int i = 0; i < n_pieces; ++i) {
        CHECK(cudaEventCreateWithFlags(&there[i], cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
        CHECK(cudaMemcpyAsync(device + i * n, &host[i * n], n * sizeof(float), cudaMemcpyHostToDevice, copies));
        CHECK(cudaEventRecord(there[i], copies));
        CHECK(cudaStreamWaitEvent(work, there[i], 0));
        scale<<<2, 128, 0, work>>>(device + i * n, n, float(i + 1));
        CHECK(cudaEventRecord(done[i], work));
    }
    for (int i = 0; i < n_pieces; ++i) {
        CHECK(cudaStreamWaitEvent(copies, done[i], 0));
        CHECK(cudaMemcpyAsync(&got[i * n], device + i * n, n * sizeof(float), cudaMemcpyDeviceToHost, copies));
    }
    CHECK(cudaEventRecord(end, copies));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    bool is_right = milliseconds >= 0 && cudaStreamQuery(copies) == cudaSuccess && cudaEventQuery(done[0]) == cudaSuccess;
    for (int i = 0; i < n_pieces; ++i)
        is_right &= std::all_of(&got[i * n], &got[i * n] + n, [i](float x) { return x == i + 1; });
    return verdict(is_right);
}
