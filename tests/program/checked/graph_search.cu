// A breadth-first search that launches until a flag of the device stays unset.
#include "check.h"
#include <queue>
#include <vector>
__device__ int is_changed;
__global__ void expand(const int *starts, const int *targets, int *levels, int n, int level)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || levels[v] != level)
        return;
    for (int e = starts[v]; e < starts[v + 1]; ++e)
        if (levels[targets[e]] < 0) {
            levels[targets[e]] = level + 1;
            is_changed = 1;
        }
}
int main()
{
    const int n = 400;
    std::vector<int> starts(n + 1), targets, expected(n, -1), got(n, -1);
    for (int v = 0; v < n; ++v) {
        for (int w : {(v * 7 + 1) % n, (v + 13) % n})
            if (v % 5 != 4)
                targets.push_back(w);
        starts[v + 1] = (int)targets.size();
    }
    std::queue<int> waiting({0});
    for (expected[0] = 0; !waiting.empty(); waiting.pop())
        for (int e = starts[waiting.front()]; e < starts[waiting.front() + 1]; ++e)
            if (expected[targets[e]] < 0) {
                expected[targets[e]] = expected[waiting.front()] + 1;
                waiting.push(targets[e]);
            }
    int *s, *t, *l;
    got[0] = 0;
    CHECK(cudaMalloc(&s, starts.size() * 4));
    CHECK(cudaMalloc(&t, targets.size() * 4));
    CHECK(cudaMalloc(&l, n * 4));
    CHECK(cudaMemcpy(s, starts.data(), starts.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(t, targets.data(), targets.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(l, got.data(), n * 4, cudaMemcpyHostToDevice));
    for (int level = 0, more = 1; more; ++level) {
        more = 0;
        CHECK(cudaMemcpyToSymbol(is_changed, &more, sizeof more));
        expand<<<(n + 127) / 128, 128>>>(s, t, l, n, level);
        CHECK(cudaMemcpyFromSymbol(&more, is_changed, sizeof more));
    }
    CHECK(cudaMemcpy(got.data(), l, n * 4, cudaMemcpyDeviceToHost));
    return verdict(got == expected);
}
