// Results of kernels through std::async and futures.
#include "check.h"
#include <future>
#include <vector>
__global__ void sum(const int *in, int n, int *out)
{
    int mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        mine += in[i];
    atomicAdd(out, mine);
}
int sum_of(std::vector<int> values)
{
    int *in, *out, host;
    CHECK(cudaMalloc(&in, values.size() * sizeof(int)));
    CHECK(cudaMalloc(&out, sizeof *out));
    CHECK(cudaMemset(out, 0, sizeof *out));
    CHECK(cudaMemcpy(in, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    sum<<<1, 64>>>(in, (int)values.size(), out);
    CHECK(cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost));
    return host;
}
int main()
{
    std::vector<std::future<int>> results;
    for (int i = 1; i <= 4; ++i)
        results.push_back(std::async(std::launch::async, sum_of, std::vector<int>(i * 50, i)));
    int total = 0;
    for (auto &each : results)
        total += each.get();
    return verdict(total == 50 * (1 + 4 + 9 + 16));
}
