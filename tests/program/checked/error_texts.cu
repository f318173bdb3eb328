// Names and texts of errors; which calls keep the last error and which forget it.
#include "check.h"
#include <cstring>
int main()
{
    struct {
        cudaError_t error;
        const char *name, *text;
    } const known[] = {
        {cudaSuccess, "cudaSuccess", "no error"},
        {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
        {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
        {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
        {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
         "operation would make the legacy stream depend on a capturing blocking stream"},
        {(cudaError_t)5000, "unrecognized error code", "unrecognized error code"},
    };
    bool is_right = true;
    for (const auto &each : known)
        is_right &= !strcmp(cudaGetErrorName(each.error), each.name) && !strcmp(cudaGetErrorString(each.error), each.text);
    is_right &= cudaSetDevice(99) == cudaErrorInvalidDevice && cudaPeekAtLastError() == cudaErrorInvalidDevice;
    is_right &= cudaGetLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaSuccess;
    return verdict(is_right);
}
