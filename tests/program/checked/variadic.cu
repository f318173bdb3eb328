// Variadic templates, fold expressions and `if constexpr` in kernels.
#include "check.h"
#include <type_traits>
template <typename... T> __device__ auto sum_of(T... values) { return (values + ... + 0); }
template <typename T> __device__ T half_of(T x)
{
    if constexpr (std::is_floating_point_v<T>)
        return x * T(0.5);
    else
        return x / 2;
}
template <typename T, int... N> __global__ void fill(T *out) { *out = half_of(T(sum_of(N...))); }
template <typename T> T run()
{
    T *device, host;
    CHECK(cudaMalloc(&device, sizeof *device));
    fill<T, 1, 2, 3, 5><<<1, 1>>>(device);
    CHECK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    return host;
}
int main() { return verdict(run<int>() == 5 && run<float>() == 5.5f && run<double>() == 5.5); }
