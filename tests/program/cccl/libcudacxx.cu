// libcu++ in kernels: atomics with a scope, arrays, tuples, optional values, limits.
#include <cstdio>
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/tuple>
__device__ cuda::std::optional<int> half_of(int x)
{
    return x % 2 ? cuda::std::optional<int>() : cuda::std::optional<int>(x / 2);
}
__global__ void work(int *count, int *largest)
{
    cuda::std::array<int, 4> values = {1, 2, 3, 4};
    auto [a, b] = cuda::std::make_tuple(values[threadIdx.x % 4], int(threadIdx.x));
    if (auto found = half_of(a * b)) {
        cuda::atomic_ref<int, cuda::thread_scope_device>(*count).fetch_add(*found, cuda::std::memory_order_relaxed);
        cuda::atomic_ref<int, cuda::thread_scope_block>(*largest).fetch_max(*found);
    }
}
int main()
{
    int *device, got[2], start[2] = {0, cuda::std::numeric_limits<int>::lowest()}, expected[2] = {0, 0};
    cudaMalloc(&device, sizeof got);
    cudaMemcpy(device, start, sizeof start, cudaMemcpyHostToDevice);
    work<<<1, 64>>>(device, device + 1);
    cudaMemcpy(got, device, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; ++i)
        if (const int product = (i % 4 + 1) * i; product % 2 == 0) {
            expected[0] += product / 2;
            expected[1] = product / 2 > expected[1] ? product / 2 : expected[1];
        }
    const bool is_right = got[0] == expected[0] && got[1] == expected[1];
    puts(is_right ? "PASS" : "FAIL");
    return !is_right;
}
