// What every program of this folder needs: checked calls, the host's clock, the line that the runner reads.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define CHECK(call)                                                                    \
    do {                                                                               \
        cudaError_t error_of_call = (call);                                            \
        if (error_of_call != cudaSuccess) {                                            \
            std::printf("%s: %s\n", #call, cudaGetErrorString(error_of_call));         \
            std::exit(1);                                                              \
        }                                                                              \
    } while (0)

static double now_us()
{
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

// The time of a stream between two of its requests.
struct Events {
    cudaEvent_t from, to;
    Events() { CHECK(cudaEventCreate(&from)); CHECK(cudaEventCreate(&to)); }
    void begin(cudaStream_t stream = 0) { CHECK(cudaEventRecord(from, stream)); }
    double end_us(cudaStream_t stream = 0)
    {
        CHECK(cudaEventRecord(to, stream));
        CHECK(cudaEventSynchronize(to));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, from, to));
        return ms * 1e3;
    }
};

constexpr int AHEAD = 60; // us, in which the host asks for all that a program times

// Takes about so many microseconds.
__global__ void busy(int us)
{
    for (int i = 0; i < us; i++)
        __nanosleep(1000);
}

static int figure(double us)
{
    std::printf("figure: %.6g us\n", us);
    return 0;
}

static int unknown(const char *way)
{
    std::printf("unknown: %s\n", way);
    return 2;
}

static bool is(const char *way, const char *name) { return !std::strcmp(way, name); }
