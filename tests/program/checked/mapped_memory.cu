// Page-locked memory that kernels read and write in place.
#include "check.h"
__global__ void accumulate(const float *in, float *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] += in[i];
}
int main()
{
    const int n = 300;
    float *in, *out, *device_in, *device_out;
    CHECK(cudaHostAlloc(&in, n * sizeof *in, cudaHostAllocMapped));
    CHECK(cudaMallocHost(&out, n * sizeof *out));
    for (int i = 0; i < n; ++i)
        in[i] = float(i), out[i] = 1;
    CHECK(cudaHostGetDevicePointer(&device_in, in, 0));
    CHECK(cudaHostGetDevicePointer(&device_out, out, 0));
    for (int round = 0; round < 3; ++round) {
        accumulate<<<1, 64>>>(device_in, device_out, n);
        CHECK(cudaDeviceSynchronize());
        in[round] += 10;
    }
    cudaPointerAttributes known;
    CHECK(cudaPointerGetAttributes(&known, in));
    bool is_right = known.type == cudaMemoryTypeHost && known.hostPointer == in;
    for (int i = 0; i < n; ++i)
        is_right &= out[i] == 3 * i + 1 + (i == 0 ? 20 : i == 1 ? 10 : 0);
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(out));
    return verdict(is_right);
}
