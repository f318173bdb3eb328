// Launches that say more than a grid and a block: cudaLaunchKernelEx.
#pragma once

#include "runtime.h"

enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeAccessPolicyWindow = 1,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeSynchronizationPolicy = 3,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
    cudaLaunchAttributeProgrammaticEvent = 7,
    cudaLaunchAttributePriority = 8,
    cudaLaunchAttributeMemSyncDomainMap = 9,
    cudaLaunchAttributeMemSyncDomain = 10,
};
union cudaLaunchAttributeValue {
    char pad[64];
    int cooperative;
    struct {
        unsigned int x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
    int priority;
};
struct cudaLaunchAttribute {
    enum cudaLaunchAttributeID id;
    char pad[4];
    union cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    struct cudaLaunchAttribute *attrs;
    unsigned int numAttrs;
};

extern "C" cudaError_t cudaLaunchKernelExC(const struct cudaLaunchConfig_t *config, const void *kernel, void **arguments);

#ifndef GPUPROF_RUNTIME
// The arguments become what the kernel takes.
template <typename... Parameters, typename... Arguments>
GPUPROF_FACE cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...), Arguments &&...arguments)
{
    return [&](Parameters... values) {
        void *places[sizeof...(Parameters) + 1] = {(void *)&values...};
        return cudaLaunchKernelExC(config, (const void *)kernel, places);
    }(static_cast<Arguments &&>(arguments)...);
}
#endif
