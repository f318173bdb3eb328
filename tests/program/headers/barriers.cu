// nvcuda::experimental's barrier and pipeline: phases, copies in the background with zeros behind, threads that drop out.
#include <cstdio>
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
using namespace nvcuda::experimental;
struct alignas(16) Four {
    int values[4];
};
__global__ void phases(int *out, const Four *in)
{
    __shared__ awbarrier barrier;
    __shared__ int numbers[64];
    __shared__ Four copies[64];
    const int me = threadIdx.x;
    pipeline copying;
    if (me == 0)
        init(&barrier, 64);
    __syncthreads();
    for (int i = 0; i < 3; ++i) {
        numbers[me] = me + i;
        auto token = barrier.arrive();
        barrier.wait(token);
        out[me] += numbers[63 - me];
        barrier.arrive_and_wait();
    }
    memcpy_async(copies[me], in[me], copying);
    memcpy_async(segment<2>(&copies[me].values[2]), segment<1>(&in[me].values[2]), copying);
    copying.wait(copying.commit());
    copying.arrive_on(barrier);
    barrier.arrive_and_wait();
    const Four other = copies[me ^ 1];
    out[me] += 1000 * (other.values[0] + other.values[1] + other.values[2] + other.values[3]);
    if (me >= 32) {
        barrier.arrive_and_drop();
        return;
    }
    barrier.arrive_and_wait();
    barrier.arrive_and_wait();
    out[me] += 1000000;
}
int main()
{
    int *out, n_wrong = 0;
    Four *in;
    cudaMallocManaged(&out, 64 * sizeof(int));
    cudaMallocManaged(&in, 64 * sizeof(Four));
    for (int i = 0; i < 64; ++i) {
        out[i] = 0;
        for (int j = 0; j < 4; ++j)
            in[i].values[j] = i + j;
    }
    phases<<<1, 64>>>(out, in);
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; ++i)
        n_wrong += out[i] != 3 * (63 - i) + 3 + 1000 * (3 * (i ^ 1) + 3) + (i < 32) * 1000000;
    printf("%d %s\n", n_wrong, cudaGetErrorName(cudaGetLastError()));
}
