// Vectors of Thrust: sort, reduce, unique, transform, scan, on the device and, for comparison, on the host.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>
#include <vector>
struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};
int main()
{
    const int n = 1000;
    thrust::host_vector<int> host(n);
    for (int i = 0; i < n; ++i)
        host[i] = i * 7919 % 503;
    thrust::device_vector<int> device = host;
    std::vector<int> expected(host.begin(), host.end());
    thrust::sort(device.begin(), device.end());
    std::sort(expected.begin(), expected.end());
    bool is_right = thrust::reduce(device.begin(), device.end()) == std::accumulate(expected.begin(), expected.end(), 0);
    device.erase(thrust::unique(device.begin(), device.end()), device.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    thrust::transform(device.begin(), device.end(), device.begin(), Square());
    thrust::inclusive_scan(device.begin(), device.end(), device.begin());
    std::transform(expected.begin(), expected.end(), expected.begin(), Square());
    std::partial_sum(expected.begin(), expected.end(), expected.begin());
    host = device;
    is_right &= std::equal(expected.begin(), expected.end(), host.begin(), host.end());
    puts(is_right ? "PASS" : "FAIL");
    return !is_right;
}
