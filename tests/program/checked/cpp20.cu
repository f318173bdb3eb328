// run: --std c++20
// C++20 on the host and in a kernel: concepts, ranges, spans, three-way comparison.
#include "check.h"
#include <algorithm>
#include <compare>
#include <concepts>
#include <numeric>
#include <ranges>
#include <span>
#include <vector>
template <typename T>
concept Number = std::integral<T> || std::floating_point<T>;
struct Version {
    int major, minor;
    auto operator<=>(const Version &) const = default;
};
template <Number T> __global__ void twice(T *p, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] = p[i] + p[i];
}
template <Number T> void run(std::span<T> values)
{
    T *device;
    CHECK(cudaMalloc(&device, values.size_bytes()));
    CHECK(cudaMemcpy(device, values.data(), values.size_bytes(), cudaMemcpyHostToDevice));
    twice<<<1, 64>>>(device, (int)values.size());
    CHECK(cudaMemcpy(values.data(), device, values.size_bytes(), cudaMemcpyDeviceToHost));
}
int main()
{
    std::vector<int> values(100);
    std::iota(values.begin(), values.end(), 0);
    run(std::span(values));
    auto even = values | std::views::filter([](int x) { return x % 4 == 0; });
    const bool is_right = std::ranges::distance(even) == 50 && std::ranges::is_sorted(values) && values.back() == 198;
    return verdict(is_right && Version{12, 8} < Version{13, 0});
}
