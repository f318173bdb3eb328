// Many calls and launches, from threads at once; sizes that no card has.
#include <cstdio>
#include <thread>
#include <vector>
__global__ void count(int *p) { atomicAdd(p, 1); }
int main()
{
    int *p, found;
    cudaMalloc(&p, 4);
    cudaMemset(p, 0, 4);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([p] {
            cudaStream_t stream;
            cudaStreamCreate(&stream);
            for (int j = 0; j < 25; ++j)
                count<<<1, 32, 0, stream>>>(p);
            cudaStreamSynchronize(stream);
            cudaStreamDestroy(stream);
        });
    cudaEvent_t event;
    cudaEventCreate(&event);
    for (int i = 0; i < 2000; ++i)
        cudaEventRecord(event);
    for (std::thread &each : threads)
        each.join();
    cudaMemcpy(&found, p, 4, cudaMemcpyDeviceToHost);
    size_t left, all;
    cudaMemGetInfo(&left, &all);
    void *large;
    printf("%d of %zu GiB, %s %s\n", found, all >> 30, cudaGetErrorName(cudaMalloc(&large, all)), cudaGetErrorName(cudaMalloc(&large, (size_t)-1)));
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    return properties.totalGlobalMem != all;
}
