// A bitonic sort of one block, and std::sort beside it.
#include "check.h"
#include <algorithm>
#include <vector>
__global__ void sort(unsigned *data, int n)
{
    for (int size = 2; size <= n; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
                const int low = 2 * i - (i & (stride - 1)), high = low + stride;
                const bool is_up = (low & size) == 0;
                if ((data[low] > data[high]) == is_up) {
                    const unsigned kept = data[low];
                    data[low] = data[high];
                    data[high] = kept;
                }
            }
            __syncthreads();
        }
}
int main()
{
    std::vector<unsigned> host(512), got(512);
    for (unsigned i = 0; i < 512; ++i)
        host[i] = i * 2654435761u;
    unsigned *device;
    CHECK(cudaMalloc(&device, 2048));
    CHECK(cudaMemcpy(device, host.data(), 2048, cudaMemcpyHostToDevice));
    sort<<<1, 256>>>(device, 512);
    CHECK(cudaMemcpy(got.data(), device, 2048, cudaMemcpyDeviceToHost));
    std::sort(host.begin(), host.end());
    return verdict(got == host);
}
