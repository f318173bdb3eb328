// cudaLaunchKernel with an array of arguments; attributes of a kernel.
#include "check.h"
struct Pair {
    int a;
    double b;
};
__global__ void __launch_bounds__(128) combine(double *out, Pair pair, char c, int n)
{
    if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)
        out[i] = pair.a * i + pair.b + c;
}
int main()
{
    double *device, got[200];
    Pair pair = {3, 0.25};
    char c = 7;
    int n = 200;
    CHECK(cudaMalloc(&device, sizeof got));
    void *arguments[] = {&device, &pair, &c, &n};
    CHECK(cudaLaunchKernel((const void *)combine, dim3(2), dim3(100), arguments, 0, 0));
    CHECK(cudaMemcpy(got, device, sizeof got, cudaMemcpyDeviceToHost));
    cudaFuncAttributes known;
    CHECK(cudaFuncGetAttributes(&known, combine));
    bool is_right = known.maxThreadsPerBlock == 128 && known.sharedSizeBytes == 0 && known.numRegs > 0;
    for (int i = 0; i < n; ++i)
        is_right &= got[i] == 3 * i + 7.25;
    return verdict(is_right);
}
