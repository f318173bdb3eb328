// What a program sets of its device, and gets back; questions that one device answers by itself.
#include "channel.h"
#include "runtime_launches.h"
#include "texture_runtime.h"

#include <stdio.h>
#include <string.h>

using namespace gpuprof;

namespace {

// CUDA's own defaults, by number of the limit.
size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};
constexpr unsigned n_limits = sizeof limits / sizeof *limits;
cudaFuncCache cache_config = cudaFuncCachePreferNone;
unsigned device_flags = cudaDeviceScheduleAuto;

constexpr unsigned settable_flags = cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;

cudaError_t set_flags(unsigned flags)
{
    if (flags & ~settable_flags || (flags & cudaDeviceScheduleMask) == 3 || (flags & cudaDeviceScheduleMask) > cudaDeviceScheduleBlockingSync)
        return cudaErrorInvalidValue;
    device_flags = flags;
    return cudaSuccess;
}

cudaError_t check(int device) { return device ? cudaErrorInvalidDevice : cudaSuccess; }

} // namespace

extern "C" {
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config)
{
    if ((unsigned)config <= cudaFuncCachePreferEqual)
        cache_config = config;
    return result_if((unsigned)config <= cudaFuncCachePreferEqual);
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config)
{
    if (config)
        *config = cache_config;
    return result_if(config);
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return result(cudaSuccess); }
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config)
{
    if (config)
        *config = cudaSharedMemBankSizeFourByte; // the only one of the chips that there are
    return result_if(config);
}
cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit)
{
    if (!value || (unsigned)limit >= n_limits)
        return result(value ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue);
    *value = limits[limit];
    return result(cudaSuccess);
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value)
{
    if ((unsigned)limit >= n_limits)
        return result(cudaErrorUnsupportedLimit);
    if (limit == cudaLimitMaxL2FetchGranularity && value > 128)
        return result(cudaErrorInvalidValue);
    limits[limit] = value;
    return result(cudaSuccess);
}
cudaError_t cudaSetDeviceFlags(unsigned int flags) { return result(set_flags(flags)); }
cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    if (flags)
        *flags = device_flags | cudaDeviceMapHost; // which every device does
    return result_if(flags);
}
cudaError_t cudaInitDevice(int device, unsigned int its_flags, unsigned int flags)
{
    if (device || flags > cudaInitDeviceFlagsAreValid)
        return result(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    return result(flags ? set_flags(its_flags) : cudaSuccess);
}
cudaError_t cudaSetValidDevices(int *devices, int n)
{
    if (n < 0 || n > 1 || (n && !devices))
        return result(cudaErrorInvalidValue);
    return result(n ? check(*devices) : cudaSuccess);
}
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    if (!device || !text)
        return result(cudaErrorInvalidValue);
    char own[16], given[16];
    cudaDeviceGetPCIBusId(own, sizeof own, 0);
    unsigned domain = 0, bus, slot, function = 0;
    if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
        domain = 0;
        if (sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2)
            return result(cudaErrorInvalidDevice);
    }
    snprintf(given, sizeof given, "%04x:%02x:%02x.%x", domain & 0xffff, bus & 0xff, slot & 0xff, function & 7);
    *device = 0;
    return result(strcmp(own, given) ? cudaErrorInvalidDevice : cudaSuccess);
}
// Between two devices, of which there is one.
cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr, int, int)
{
    return result(value ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
}
// None: no chip here is linked to the host's memory as its own.
cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned int *capabilities, const cudaAtomicOperation *operations, unsigned int n, int device)
{
    if (device || !capabilities || !operations || !n)
        return result(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    for (unsigned i = 0; i < n; ++i) {
        if ((unsigned)operations[i] > cudaAtomicOperationFloatMax)
            return result(cudaErrorInvalidValue);
        capabilities[i] = 0;
    }
    return result(cudaSuccess);
}
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const cudaChannelFormatDesc *form, int device)
{
    if (device || !width || !form)
        return result(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    *width = 1 << 28; // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"
    return result(cudaSuccess);
}
cudaError_t cudaCtxResetPersistingL2Cache() { return result(cudaSuccess); }
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    unsigned flags;
    if (!device)
        return result(cudaErrorInvalidValue);
    *device = 0;
    return cudaStreamGetFlags(stream, &flags);
}
}
