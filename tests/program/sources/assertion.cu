// An assertion of a kernel that holds, then one that fails: the context is lost, and every call says so.
#include "../checked/check.h"
#include <cassert>
__global__ void checked(int *p, int bound)
{
    assert(*p < bound);
    *p += 1;
}
int main()
{
    int *p, got = 0;
    CHECK(cudaMalloc(&p, sizeof *p));
    CHECK(cudaMemset(p, 0, sizeof *p));
    for (int i = 0; i < 3; ++i)
        checked<<<1, 1>>>(p, 3);
    CHECK(cudaMemcpy(&got, p, sizeof got, cudaMemcpyDeviceToHost));
    bool is_right = got == 3;
    checked<<<1, 1>>>(p, 3);
    is_right &= cudaDeviceSynchronize() == cudaErrorAssert;
    is_right &= cudaMemcpy(&got, p, sizeof got, cudaMemcpyDeviceToHost) == cudaErrorAssert;
    is_right &= cudaGetLastError() == cudaErrorAssert && cudaMalloc(&p, 4) == cudaErrorAssert;
    return verdict(is_right);
}
