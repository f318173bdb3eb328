// touches WAY N STRIDE: managed memory of N floats, of which a kernel reads every so manieth, by the host's clock.
// WAY: faulting (the host has written all of it), copied (device memory instead, with its allocation and a copy of all
// of it), as CUDAMicroBench's LowAccessDensityTest takes it. By events around the kernel: prefetched, settled (a kernel
// has read it before), alternating (the host and a kernel write it in turn; the time of a kernel).
#include "figure.h"

__global__ void pick(const float *x, float *y, size_t n, float by, size_t stride)
{
    size_t i = blockDim.x * (size_t)blockIdx.x + threadIdx.x;
    if (i < n / stride)
        y[i] = by * x[i * stride];
}

__global__ void change(float *x, size_t n)
{
    size_t i = blockDim.x * (size_t)blockIdx.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

static void fill(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = i % 7;
}

static unsigned blocks_for(size_t n) { return (unsigned)((n + 255) / 256); }

static double faulting_us(size_t n, size_t stride)
{
    double begun = now_us();
    float *x, *y;
    CHECK(cudaMallocManaged(&x, n * sizeof(float)));
    double allocated = now_us() - begun;
    fill(x, n);
    begun = now_us();
    CHECK(cudaMalloc(&y, n / stride * sizeof(float)));
    pick<<<blocks_for(n / stride), 256>>>(x, y, n, 123.5f, stride);
    CHECK(cudaDeviceSynchronize());
    return allocated + (now_us() - begun);
}

static double copied_us(size_t n, size_t stride)
{
    float *host = (float *)std::malloc(n * sizeof(float)), *x, *y;
    fill(host, n);
    double begun = now_us();
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc(&y, n / stride * sizeof(float)));
    CHECK(cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice));
    pick<<<blocks_for(n / stride), 256>>>(x, y, n, 123.5f, stride);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return now_us() - begun;
}

static double changed_us(const char *way, size_t n)
{
    float *x;
    CHECK(cudaMallocManaged(&x, n * sizeof(float)));
    fill(x, n);
    if (is(way, "prefetched"))
        CHECK(cudaMemPrefetchAsync(x, n * sizeof(float), 0));
    else
        change<<<blocks_for(n), 256>>>(x, n);
    CHECK(cudaDeviceSynchronize());
    if (is(way, "alternating"))
        fill(x, n);
    Events events;
    events.begin();
    change<<<blocks_for(n), 256>>>(x, n);
    return events.end_us();
}

int main(int, char **argv)
{
    size_t n = std::atoll(argv[2]), stride = std::atoll(argv[3]);
    pick<<<1, 256>>>(nullptr, nullptr, 0, 0, 1);
    CHECK(cudaDeviceSynchronize());
    if (is(argv[1], "faulting"))
        return figure(faulting_us(n, stride));
    return figure(is(argv[1], "copied") ? copied_us(n, stride) : changed_us(argv[1], n));
}
