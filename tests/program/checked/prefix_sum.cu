// An exclusive scan of Blelloch's in shared memory.
#include "check.h"
__global__ void scan(int *data, int n)
{
    __shared__ int part[256];
    const int i = threadIdx.x;
    part[i] = i < n ? data[i] : 0;
    int stride = 1;
    for (int active = 128; active > 0; active /= 2, stride *= 2) {
        __syncthreads();
        if (i < active)
            part[stride * (2 * i + 2) - 1] += part[stride * (2 * i + 1) - 1];
    }
    if (i == 0)
        part[255] = 0;
    for (int active = 1; active < 256; active *= 2) {
        stride /= 2;
        __syncthreads();
        if (i < active) {
            const int left = stride * (2 * i + 1) - 1, right = stride * (2 * i + 2) - 1, kept = part[left];
            part[left] = part[right];
            part[right] += kept;
        }
    }
    __syncthreads();
    if (i < n)
        data[i] = part[i];
}
int main()
{
    int host[200], *device, running = 0;
    for (int i = 0; i < 200; ++i)
        host[i] = i * 7 % 11;
    CHECK(cudaMalloc(&device, sizeof host));
    CHECK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    scan<<<1, 256>>>(device, 200);
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int i = 0; i < 200; running += i++ * 7 % 11)
        is_right &= host[i] == running;
    return verdict(is_right);
}
