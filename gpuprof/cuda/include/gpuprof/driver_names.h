// Names of the driver's calls that are there: cuGetProcAddress finds them by these, and each has the type of its pointers, PFN_NAME.
#pragma once

#define GPUPROF_DRIVER_CALLS(DO)                                                                                                           \
    DO(cuInit) DO(cuDriverGetVersion) DO(cuGetErrorName) DO(cuGetErrorString) DO(cuDeviceGet) DO(cuDeviceGetCount) DO(cuDeviceGetName)     \
    DO(cuDeviceTotalMem) DO(cuDeviceGetAttribute) DO(cuDeviceComputeCapability) DO(cuDeviceCanAccessPeer) DO(cuDevicePrimaryCtxRetain)     \
    DO(cuDevicePrimaryCtxRelease) DO(cuDevicePrimaryCtxGetState) DO(cuDevicePrimaryCtxReset) DO(cuCtxCreate) DO(cuCtxDestroy)              \
    DO(cuCtxSetCurrent) DO(cuCtxGetCurrent) DO(cuCtxPushCurrent) DO(cuCtxPopCurrent) DO(cuCtxGetDevice) DO(cuCtxSynchronize)               \
    DO(cuModuleLoad) DO(cuModuleLoadData) DO(cuModuleLoadDataEx) DO(cuModuleUnload) DO(cuModuleGetFunction) DO(cuModuleGetGlobal)          \
    DO(cuMemGetInfo) DO(cuMemAlloc) DO(cuMemAllocPitch) DO(cuMemAllocManaged) DO(cuMemAllocAsync) DO(cuMemAllocHost) DO(cuMemHostAlloc)    \
    DO(cuMemHostGetDevicePointer) DO(cuMemHostRegister) DO(cuMemHostUnregister) DO(cuMemFree) DO(cuMemFreeAsync) DO(cuMemFreeHost)         \
    DO(cuPointerGetAttribute) DO(cuPointerGetAttributes) DO(cuMemPoolCreate) DO(cuMemPoolDestroy) DO(cuMemPoolSetAttribute)                \
    DO(cuMemPoolGetAttribute) DO(cuMemPoolTrimTo) DO(cuMemAllocFromPoolAsync) DO(cuDeviceGetDefaultMemPool) DO(cuMemcpy)                   \
    DO(cuMemcpyAsync) DO(cuMemcpyHtoD) DO(cuMemcpyDtoH) DO(cuMemcpyDtoD) DO(cuMemcpyHtoDAsync) DO(cuMemcpyDtoHAsync)                       \
    DO(cuMemcpyDtoDAsync) DO(cuMemsetD8) DO(cuMemsetD16) DO(cuMemsetD32) DO(cuMemsetD8Async) DO(cuMemsetD16Async) DO(cuMemsetD32Async)     \
    DO(cuStreamCreate) DO(cuStreamCreateWithPriority) DO(cuStreamDestroy) DO(cuStreamSynchronize) DO(cuStreamQuery)                        \
    DO(cuStreamWaitEvent) DO(cuStreamGetPriority) DO(cuStreamGetId) DO(cuStreamGetCtx) DO(cuStreamAddCallback) DO(cuLaunchHostFunc)        \
    DO(cuEventCreate) DO(cuEventDestroy) DO(cuEventRecord) DO(cuEventSynchronize) DO(cuEventQuery) DO(cuEventElapsedTime)                  \
    DO(cuFuncGetAttribute) DO(cuFuncSetAttribute) DO(cuFuncSetCacheConfig) DO(cuOccupancyMaxActiveBlocksPerMultiprocessor)                 \
    DO(cuLaunchKernel) DO(cuLaunchCooperativeKernel) DO(cuGetProcAddress) DO(cuProfilerStart) DO(cuProfilerStop)
