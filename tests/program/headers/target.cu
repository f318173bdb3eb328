// <nv/target>: code by the target that it is compiled for, on the host and on the device.
#include <cstdio>
#include <nv/target>
__host__ __device__ int which()
{
    int result = 0;
    NV_IF_TARGET(NV_IS_DEVICE, (int a = 1, b = 2; result += a + b;))
    NV_IF_ELSE_TARGET(NV_IS_HOST, (result += 10;), (result += 20;))
    NV_IF_TARGET(NV_PROVIDES_SM_80, result += 100;, result += 200;)
    NV_DISPATCH_TARGET(NV_IS_EXACTLY_SM_90, (result += 1000;), NV_PROVIDES_SM_80, (result += 2000;), NV_IS_HOST, (result += 3000;), NV_ANY_TARGET, (result += 4000;))
    NV_DISPATCH_TARGET(NV_NO_TARGET, (result = 0;), NV_NO_TARGET, (result = 0;))
    return result;
}
__global__ void ask(int *out) { *out = which(); }
int main()
{
    int *out;
    cudaMallocManaged(&out, 4);
    ask<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    printf("%d %d\n", which(), *out);
}
