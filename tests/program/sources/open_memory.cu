// Memory that host and device both touch: `__managed__` variables, registered memory, pools.
#include <cstdio>
#include <vector>
__managed__ int counter = 3;
static __managed__ float factors[3] = {1.5f, 2.5f, 3.5f};
__global__ void count() { atomicAdd(&counter, 1); }
__global__ void scale(float *p, int n)
{
    if (threadIdx.x < n)
        p[threadIdx.x] *= 2;
}
#define CHECK(call)                                                                          \
    if (cudaError_t error = (call)) {                                                        \
        printf("line %d: %s\n", __LINE__, cudaGetErrorName(error));                          \
        return 2;                                                                            \
    }
int main()
{
    printf("%d %g\n", counter, factors[2]);
    counter += 10;
    count<<<2, 32>>>();
    scale<<<1, 4>>>(factors, 2);
    CHECK(cudaDeviceSynchronize());
    printf("%d %g %g %g\n", counter, factors[0], factors[1], factors[2]);

    std::vector<float> all(3000, 1.0f);
    float *part = all.data() + 3, *device;
    CHECK(cudaHostRegister(part, 2000 * sizeof(float), cudaHostRegisterMapped));
    printf("%s\n", cudaGetErrorName(cudaHostRegister(part + 1, 4, 0)));
    CHECK(cudaHostGetDevicePointer(&device, part, 0));
    scale<<<1, 32>>>(device, 2);
    scale<<<1, 32>>>(part, 1); // its address in host memory will do, too
    CHECK(cudaDeviceSynchronize());
    part[2] = 7;
    scale<<<1, 32>>>(device + 2, 1);
    CHECK(cudaDeviceSynchronize());
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, part));
    printf("%g %g %g %g %g, type %d\n", all[2], all[3], all[4], all[5], all[6], attributes.type);
    CHECK(cudaHostUnregister(part));
    printf("%g %g %s\n", all[3], all[2999], cudaGetErrorName(cudaHostUnregister(part)));

    cudaMemPool_t pool;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long threshold = 1 << 20, most, used;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    float *a, *b;
    CHECK(cudaMallocAsync(&a, 400, stream));
    CHECK(cudaMemsetAsync(a, 0, 400, stream));
    scale<<<1, 32, 0, stream>>>(a, 3);
    CHECK(cudaFreeAsync(a, stream));
    CHECK(cudaMallocFromPoolAsync(&b, 1000, pool, stream));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeAsync(b, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("%llu used, %llu at most, %s\n", used, most, cudaGetErrorName(cudaFreeAsync(b, stream)));
}
