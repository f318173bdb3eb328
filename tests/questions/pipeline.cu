// Batches go to the device, through two kernels, and back, on four streams.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { std::printf("%s: %s\n", #call, cudaGetErrorString(e)); std::exit(1); } } while (0)

__global__ void scale(float *x, int n, float by) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= by; }
__global__ void smooth(const float *x, float *y, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int r = 0; r < rounds; r++) v = v * 0.99f + 0.01f * x[(i + r) % n];
    y[i] = v;
}

int main(int argc, char **argv)
{
    bool pinned = argc < 2 || std::strcmp(argv[1], "pageable");
    const int batches = 8, streams = 4, n = 1 << 14;
    float *in, *out;
    if (pinned) { CHECK(cudaMallocHost(&in, batches * n * 4)); CHECK(cudaMallocHost(&out, batches * n * 4)); }
    else { in = (float *)std::malloc(batches * n * 4); out = (float *)std::malloc(batches * n * 4); }
    for (int i = 0; i < batches * n; i++) in[i] = i % 7;
    float *x[streams], *y[streams]; cudaStream_t s[streams];
    for (int i = 0; i < streams; i++) { CHECK(cudaMalloc(&x[i], n * 4)); CHECK(cudaMalloc(&y[i], n * 4)); CHECK(cudaStreamCreate(&s[i])); }
    cudaEvent_t a, b; CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b));
    CHECK(cudaEventRecord(a));
    for (int i = 0; i < batches; i++) {
        int k = i % streams;
        CHECK(cudaMemcpyAsync(x[k], in + i * n, n * 4, cudaMemcpyHostToDevice, s[k]));
        scale<<<n / 256, 256, 0, s[k]>>>(x[k], n, 1.5f);
        smooth<<<n / 256, 256, 0, s[k]>>>(x[k], y[k], n, 16);
        CHECK(cudaMemcpyAsync(out + i * n, y[k], n * 4, cudaMemcpyDeviceToHost, s[k]));
    }
    CHECK(cudaEventRecord(b));
    CHECK(cudaDeviceSynchronize());
    float ms; CHECK(cudaEventElapsedTime(&ms, a, b));
    std::printf("%s: %.3f ms\n", pinned ? "pinned" : "pageable", ms);
    return 0;
}
