// What programs ask of the device before they start: its number, properties, attributes, limits, peers.
#include "check.h"
#include <cstring>
int main()
{
    int n = 0, device = -1, warp = 0, can = 1, least = 0, greatest = 0;
    CHECK(cudaGetDeviceCount(&n));
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDevice(&device));
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, device));
    CHECK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device));
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 0));
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    bool is_right = n == 1 && device == 0 && warp == properties.warpSize && warp == 32 && can == 0 && least >= greatest;
    is_right &= cudaSetDevice(1) == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice;
    size_t free_nbytes, total_nbytes, limit;
    CHECK(cudaMemGetInfo(&free_nbytes, &total_nbytes));
    is_right &= free_nbytes <= total_nbytes && total_nbytes == properties.totalGlobalMem;
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    is_right &= limit == 1 << 20;
    char bus[32];
    CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    is_right &= strlen(bus) >= 7;
    int driver, runtime;
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    is_right &= driver >= runtime && runtime >= 12000;
    int *a, *b, start[4] = {1, 2, 3, 4}, got[4] = {};
    CHECK(cudaMalloc(&a, sizeof start));
    CHECK(cudaMalloc(&b, sizeof start));
    CHECK(cudaMemcpy(a, start, sizeof start, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyPeer(b, 0, a, 0, sizeof start));
    CHECK(cudaMemcpy(got, b, sizeof got, cudaMemcpyDefault));
    is_right &= !memcmp(start, got, sizeof got);
    CHECK(cudaDeviceReset());
    return verdict(is_right);
}
