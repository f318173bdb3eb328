// Memory that is allocated and freed in the order of a stream.
#include "check.h"
#include <vector>
__global__ void set(int *p, int v) { p[threadIdx.x] = v + threadIdx.x; }
int main()
{
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    bool is_right = true;
    for (int round = 0; round < 5; ++round) {
        int *p;
        std::vector<int> host(128);
        CHECK(cudaMallocAsync(&p, 128 * sizeof *p, stream));
        set<<<1, 128, 0, stream>>>(p, round);
        CHECK(cudaMemcpyAsync(host.data(), p, 128 * sizeof *p, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(p, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < 128; ++i)
            is_right &= host[i] == round + i;
    }
    size_t free_nbytes, total_nbytes;
    CHECK(cudaMemGetInfo(&free_nbytes, &total_nbytes));
    cudaMemPool_t pool;
    int *taken;
    unsigned long long used_nbytes = 1;
    CHECK(cudaMallocAsync(&taken, 400, stream));
    CHECK(cudaFree(taken)); // in place of cudaFreeAsync
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used_nbytes));
    is_right &= used_nbytes == 0;
    return verdict(is_right && free_nbytes <= total_nbytes && free_nbytes > 0);
}
