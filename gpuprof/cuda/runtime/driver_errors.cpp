// Errors of the driver: their names and texts, and what the runtime's are.
#include "driver_calls.h"

namespace {
struct Named {
    CUresult error;
    const char *name;
};
#define GPUPROF_DRIVER_ERROR(NAME, VALUE) {NAME, #NAME},
const Named named[] = {GPUPROF_DRIVER_ERRORS(GPUPROF_DRIVER_ERROR)};

const Named *find(CUresult error)
{
    for (const Named &each : named)
        if (each.error == error)
            return &each;
    return nullptr;
}
} // namespace

CUresult gpuprof::as(cudaError_t error)
{
    switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidChannelDescriptor: return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_NOT_FOUND;
    default: return (CUresult)error;
    }
}

extern "C" {
CUresult cuGetErrorName(CUresult error, const char **name)
{
    const Named *found = find(error);
    if (name)
        *name = found ? found->name : nullptr;
    return name && found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult error, const char **text)
{
    const Named *found = find(error);
    if (text)
        *text = found ? cudaGetErrorString((cudaError_t)error) : nullptr;
    return text && found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
}
