// A pool of one's own with a threshold; allocations in the order of streams; what is used and was used at most.
#include "check.h"
__global__ void fill(int *p, int n, int what)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] = what + i;
}
__global__ void sum(const int *a, const int *b, int *out, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = a[i] + b[i];
}
int main()
{
    const int n = 500;
    int is_there = 0, got[n];
    CHECK(cudaDeviceGetAttribute(&is_there, cudaDevAttrMemoryPoolsSupported, 0));
    cudaMemPoolProps how = {};
    how.allocType = cudaMemAllocationTypePinned;
    how.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPool_t pool;
    CHECK(cudaMemPoolCreate(&pool, &how));
    unsigned long long threshold = 1 << 20, used = 0, most = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int *a, *b, *out;
    CHECK(cudaMallocFromPoolAsync(&a, n * sizeof(int), pool, stream));
    CHECK(cudaMallocFromPoolAsync(&b, n * sizeof(int), pool, stream));
    CHECK(cudaMallocAsync(&out, n * sizeof(int), stream));
    fill<<<1, 64, 0, stream>>>(a, n, 1);
    fill<<<1, 64, 0, stream>>>(b, n, 10);
    sum<<<1, 64, 0, stream>>>(a, b, out, n);
    CHECK(cudaFreeAsync(a, stream));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
    CHECK(cudaMemcpyAsync(got, out, sizeof got, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(b, stream));
    CHECK(cudaFreeAsync(out, stream));
    CHECK(cudaStreamSynchronize(stream));
    bool is_right = is_there && used == sizeof got && most == 2 * sizeof got;
    for (int i = 0; i < n; ++i)
        is_right &= got[i] == 11 + 2 * i;
    CHECK(cudaMemPoolTrimTo(pool, 0));
    CHECK(cudaMemPoolDestroy(pool));
    return verdict(is_right);
}
