// Device lambdas as arguments of a kernel, with what they capture.
#include "check.h"
#include <vector>
template <typename F> __global__ void for_each_index(int n, F f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        f(i);
}
template <typename F> void parallel_for(int n, F f)
{
    for_each_index<<<8, 128>>>(n, f);
    CHECK(cudaGetLastError());
}
int main()
{
    const int n = 3000, shift = 7;
    int *p;
    CHECK(cudaMalloc(&p, n * sizeof *p));
    parallel_for(n, [=] __device__(int i) { p[i] = i * i; });
    parallel_for(n, [p, shift] __device__(int i) { p[i] += shift; });
    std::vector<int> got(n);
    CHECK(cudaMemcpy(got.data(), p, n * sizeof *p, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int i = 0; i < n; ++i)
        is_right &= got[i] == i * i + shift;
    return verdict(is_right);
}
