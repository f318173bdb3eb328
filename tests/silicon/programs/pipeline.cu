// pipeline WAY BATCHES N: batches of N floats go to the device, through a kernel and back, by events around all of it.
// WAY: overlapped (four streams, page-locked memory), serial (one stream), pageable (four streams).
#include "figure.h"

__global__ void work(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float value = x[i];
    for (int turn = 0; turn < 64; turn++)
        value = value * 0.99f + 0.01f;
    x[i] = value;
}

int main(int, char **argv)
{
    const int most = 4;
    bool is_pageable = is(argv[1], "pageable");
    int batches = std::atoi(argv[2]), n = std::atoi(argv[3]), used = is(argv[1], "serial") ? 1 : most;
    size_t nbytes = n * sizeof(float);
    float *host, *device;
    if (is_pageable)
        host = (float *)std::malloc(batches * nbytes);
    else
        CHECK(cudaMallocHost(&host, batches * nbytes));
    for (int i = 0; i < batches * n; i++)
        host[i] = i % 7;
    CHECK(cudaMalloc(&device, batches * nbytes));
    cudaStream_t streams[most];
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamCreate(&stream));
    work<<<1, 256, 0, streams[0]>>>(device, 0);
    CHECK(cudaDeviceSynchronize());
    Events events;
    events.begin();
    for (int i = 0; i < batches; i++) {
        cudaStream_t stream = streams[i % used];
        float *there = device + (size_t)i * n, *here = host + (size_t)i * n;
        CHECK(cudaMemcpyAsync(there, here, nbytes, cudaMemcpyHostToDevice, stream));
        work<<<(n + 255) / 256, 256, 0, stream>>>(there, n);
        CHECK(cudaMemcpyAsync(here, there, nbytes, cudaMemcpyDeviceToHost, stream));
    }
    return figure(events.end_us());
}
