// The host's side of the runtime, so that a program with a `main` parses. Nothing here runs: only kernels are compiled.
#pragma once

#include "language.h"

#define GPUPROF_ERRORS(DO)                                                                                                                 \
    DO(cudaSuccess, 0)                                                                                                                     \
    DO(cudaErrorInvalidValue, 1)                                                                                                           \
    DO(cudaErrorMemoryAllocation, 2)                                                                                                       \
    DO(cudaErrorInitializationError, 3)                                                                                                    \
    DO(cudaErrorInvalidConfiguration, 9)                                                                                                   \
    DO(cudaErrorInvalidDevice, 101)                                                                                                        \
    DO(cudaErrorNoDevice, 100)                                                                                                             \
    DO(cudaErrorNotReady, 600)                                                                                                             \
    DO(cudaErrorIllegalAddress, 700)                                                                                                       \
    DO(cudaErrorLaunchOutOfResources, 701)                                                                                                 \
    DO(cudaErrorLaunchTimeout, 702)                                                                                                        \
    DO(cudaErrorLaunchFailure, 719)                                                                                                        \
    DO(cudaErrorNotSupported, 801)                                                                                                         \
    DO(cudaErrorUnknown, 999)
#define GPUPROF_ERROR(NAME, VALUE) NAME = VALUE,
enum cudaError { GPUPROF_ERRORS(GPUPROF_ERROR) };
#undef GPUPROF_ERROR
#undef GPUPROF_ERRORS
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2 };
enum { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2 };

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, totalConstMem, sharedMemPerMultiprocessor, sharedMemPerBlockOptin;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor, multiProcessorCount;
    int memoryClockRate, memoryBusWidth, l2CacheSize, maxThreadsPerMultiProcessor, regsPerMultiprocessor, concurrentKernels, managedMemory;
    int maxBlocksPerMultiProcessor, unifiedAddressing, cooperativeLaunch;
};

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes;
};

struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};
struct cudaExtent {
    size_t width, height, depth;
};

extern "C" {
cudaError_t cudaMalloc(void **p, size_t nbytes);
cudaError_t cudaMallocAsync(void **p, size_t nbytes, cudaStream_t stream);
cudaError_t cudaMallocHost(void **p, size_t nbytes);
cudaError_t cudaHostAlloc(void **p, size_t nbytes, unsigned int flags);
cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height);
cudaError_t cudaFree(void *p);
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t nbytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemset(void *p, int value, size_t nbytes);
cudaError_t cudaMemGetInfo(size_t *free_nbytes, size_t *total_nbytes);
cudaError_t cudaHostRegister(void *p, size_t nbytes, unsigned int flags);
cudaError_t cudaHostUnregister(void *p);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
// clang's target of `kernel<<<grid, block, shared, stream>>>`.
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_nbytes = 0, void *stream = 0);
unsigned int cudaConfigureCall(dim3 grid, dim3 block, size_t shared_nbytes = 0, cudaStream_t stream = 0);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t nbytes, cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemsetAsync(void *p, int value, size_t nbytes, cudaStream_t stream = 0);
cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags = 0);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
cudaError_t cudaMallocManaged(void **p, size_t nbytes, unsigned int flags = cudaMemAttachGlobal);
cudaError_t cudaMemPrefetchAsync(const void *p, size_t nbytes, int device, cudaStream_t stream = 0);

// C++'s typed faces of the functions above.
template <typename T> cudaError_t cudaMalloc(T **p, size_t nbytes) { return cudaMalloc((void **)p, nbytes); }
template <typename T> cudaError_t cudaMallocAsync(T **p, size_t nbytes, cudaStream_t s) { return cudaMallocAsync((void **)p, nbytes, s); }
template <typename T> cudaError_t cudaMallocHost(T **p, size_t nbytes) { return cudaMallocHost((void **)p, nbytes); }
template <typename T> cudaError_t cudaHostAlloc(T **p, size_t nbytes, unsigned int flags) { return cudaHostAlloc((void **)p, nbytes, flags); }
template <typename T> cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t w, size_t h) { return cudaMallocPitch((void **)p, pitch, w, h); }
template <typename T> cudaError_t cudaMallocManaged(T **p, size_t nbytes, unsigned int flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void **)p, nbytes, flags);
}
template <typename T>
cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t nbytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice);
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void *to, T &symbol, size_t nbytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
template <typename T> cudaError_t cudaGetSymbolAddress(void **p, const T &symbol);
template <typename T> cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value);
template <typename T> cudaError_t cudaFuncSetCacheConfig(T *kernel, cudaFuncCache config);
template <typename T> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel);
template <typename T>
cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_nbytes = 0, cudaStream_t stream = 0);
template <typename T>
cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_nbytes = 0, cudaStream_t stream = 0);
template <typename T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int block_threads, size_t shared_nbytes);
template <typename T>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T kernel, size_t shared_nbytes = 0, int limit = 0);
