// A cooperative launch: all blocks meet at a barrier of the grid.
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void relax(int *a, int *b, int n, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    const int i = (int)grid.thread_rank();
    for (int round = 0; round < rounds; ++round) {
        if (i < n)
            b[i] = a[i] + a[(i + 1) % n];
        grid.sync();
        int *kept = a;
        a = b;
        b = kept;
    }
}
int main()
{
    const int n = 200;
    int host[n], expected[n], *a, *b, rounds = 4, count = n;
    for (int i = 0; i < n; ++i)
        expected[i] = host[i] = i % 7;
    CHECK(cudaMalloc(&a, sizeof host));
    CHECK(cudaMalloc(&b, sizeof host));
    CHECK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    void *arguments[] = {&a, &b, &count, &rounds};
    CHECK(cudaLaunchCooperativeKernel((void *)relax, dim3(4), dim3(64), arguments, 0, 0));
    CHECK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
    for (int round = 0; round < rounds; ++round) {
        const int first = expected[0];
        for (int i = 0; i < n; ++i)
            expected[i] += i + 1 < n ? expected[i + 1] : first;
    }
    bool is_right = true;
    for (int i = 0; i < n; ++i)
        is_right &= host[i] == expected[i];
    return verdict(is_right);
}
