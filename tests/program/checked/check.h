// What every program here has: calls that must succeed, and how it ends.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                    \
    do {                                                                               \
        if (cudaError_t error = (call)) {                                              \
            printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorName(error));   \
            exit(2);                                                                   \
        }                                                                              \
    } while (0)

inline int verdict(bool is_right)
{
    puts(is_right ? "PASS" : "FAIL");
    return !is_right;
}
