// The device, and what is asked of it. There is one.
#include "captures.h"

#include <stdio.h>
#include <string.h>

using namespace gpuprof;

namespace {
namespace at = properties_gives;

struct Known {
    cudaError_t status;
    char name[256];
    unsigned long long words[most_words];
};

const Known &known()
{
    static Known found = {cudaErrorUnknown, {}, {}};
    Turn turn;
    if (found.status) {
        Room room = {found.name, sizeof found.name - 1};
        const Reply reply = ask_with(Payload{}, &room, Call::properties);
        memcpy(found.words, reply.words, sizeof found.words);
        found.status = reply.status;
    }
    return found;
}

cudaError_t check(int device) { return device ? cudaErrorInvalidDevice : known().status; }

int value_of(cudaDeviceAttr attribute, bool *is_known)
{
    const unsigned long long *words = known().words;
    *is_known = true;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: return (int)words[at::threads_block];
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: return 1024;
    case cudaDevAttrMaxBlockDimZ: return 64;
    case cudaDevAttrMaxGridDimX: return 2147483647;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock: return (int)words[at::shared_block];
    case cudaDevAttrTotalConstantMemory: return 65536;
    case cudaDevAttrWarpSize: return 32;
    case cudaDevAttrMaxPitch: return 2147483647;
    case cudaDevAttrMaxRegistersPerBlock: return (int)words[at::registers_block];
    case cudaDevAttrClockRate: return (int)words[at::clock_khz];
    case cudaDevAttrMultiProcessorCount: return (int)words[at::sms];
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrIntegrated:
    case cudaDevAttrComputeMode: return 0;
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrCooperativeLaunch: return 1;
    case cudaDevAttrMemoryClockRate: return (int)words[at::memory_clock_khz];
    case cudaDevAttrGlobalMemoryBusWidth: return (int)words[at::memory_bits];
    case cudaDevAttrL2CacheSize: return (int)words[at::l2_nbytes];
    case cudaDevAttrMaxThreadsPerMultiProcessor: return (int)words[at::threads_sm];
    case cudaDevAttrAsyncEngineCount: return 3;
    case cudaDevAttrComputeCapabilityMajor: return (int)words[at::major];
    case cudaDevAttrComputeCapabilityMinor: return (int)words[at::minor];
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return (int)words[at::shared_sm];
    case cudaDevAttrMaxRegistersPerMultiprocessor: return (int)words[at::registers_sm];
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return (int)words[at::shared_optin];
    case cudaDevAttrReservedSharedMemoryPerBlock: return (int)(words[at::shared_sm] - words[at::shared_optin]);
    case cudaDevAttrMaxBlocksPerMultiprocessor: return (int)words[at::blocks_sm];
    }
    *is_known = false;
    return 0;
}

void describe(cudaDeviceProp *found)
{
    const unsigned long long *words = known().words;
    memset(found, 0, sizeof *found);
    memcpy(found->name, known().name, sizeof found->name);
    found->totalGlobalMem = words[at::total_nbytes];
    found->sharedMemPerBlock = words[at::shared_block];
    found->sharedMemPerBlockOptin = words[at::shared_optin];
    found->sharedMemPerMultiprocessor = words[at::shared_sm];
    found->reservedSharedMemPerBlock = words[at::shared_sm] - words[at::shared_optin];
    found->regsPerBlock = (int)words[at::registers_block];
    found->regsPerMultiprocessor = (int)words[at::registers_sm];
    found->warpSize = 32;
    found->memPitch = 2147483647;
    found->maxThreadsPerBlock = (int)words[at::threads_block];
    found->maxThreadsPerMultiProcessor = (int)words[at::threads_sm];
    found->maxBlocksPerMultiProcessor = (int)words[at::blocks_sm];
    const int block[] = {1024, 1024, 64}, grid[] = {2147483647, 65535, 65535};
    memcpy(found->maxThreadsDim, block, sizeof block);
    memcpy(found->maxGridSize, grid, sizeof grid);
    found->clockRate = (int)words[at::clock_khz];
    found->memoryClockRate = (int)words[at::memory_clock_khz];
    found->memoryBusWidth = (int)words[at::memory_bits];
    found->l2CacheSize = (int)words[at::l2_nbytes];
    found->totalConstMem = 65536;
    found->major = (int)words[at::major];
    found->minor = (int)words[at::minor];
    found->textureAlignment = 512;
    found->texturePitchAlignment = 32;
    found->multiProcessorCount = (int)words[at::sms];
    found->deviceOverlap = found->canMapHostMemory = found->concurrentKernels = found->unifiedAddressing = 1;
    found->asyncEngineCount = 3;
    found->streamPrioritiesSupported = found->globalL1CacheSupported = found->localL1CacheSupported = 1;
    found->managedMemory = found->concurrentManagedAccess = found->computePreemptionSupported = found->cooperativeLaunch = 1;
    found->memoryPoolsSupported = 1;
    found->clusterLaunch = found->major >= 9;
}

} // namespace

extern "C" {
cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return noted(known().status);
}
cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return result(check(device)); }
cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *) { return cudaGetDevice(device); }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    const cudaError_t status = check(device);
    if (!status)
        describe(properties);
    return noted(status);
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    if (!value)
        return noted(cudaErrorInvalidValue);
    const cudaError_t status = check(device);
    bool is_known = false;
    if (!status)
        *value = value_of(attribute, &is_known);
    return noted(status ? status : is_known ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaDeviceSynchronize()
{
    const cudaError_t status = check_device_wait();
    return result(status ? status : ask(Call::synchronize, Waits::everything, 0).status);
}
cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
// What the device holds stays readable for the checker of leaks, unless a fault has ended the context.
cudaError_t cudaDeviceReset()
{
    const cudaError_t status = cudaDeviceSynchronize();
    return is_context_lost() ? reset_context() : status;
}
cudaError_t cudaThreadExit() { return cudaDeviceSynchronize(); }
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = 0;
    return noted(device || peer ? cudaErrorInvalidDevice : cudaSuccess);
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) { return result(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceDisablePeerAccess(int) { return result(cudaErrorPeerAccessNotEnabled); }
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char *text, int nbytes, int device)
{
    snprintf(text, nbytes, "0000:01:00.0");
    return result(check(device));
}
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }
cudaError_t cudaProfilerStart() { return result(ask(Call::profile, 1).status); }
cudaError_t cudaProfilerStop() { return result(ask(Call::profile, 0).status); }
}
