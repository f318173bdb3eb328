// The runtime's errors: name, number and text, as CUDA has them.
#pragma once

#define GPUPROF_ERRORS(DO)                                                                                                                 \
    DO(cudaSuccess, 0, "no error")                                                                                                         \
    DO(cudaErrorInvalidValue, 1, "invalid argument")                                                                                       \
    DO(cudaErrorMemoryAllocation, 2, "out of memory")                                                                                      \
    DO(cudaErrorInitializationError, 3, "initialization error")                                                                            \
    DO(cudaErrorCudartUnloading, 4, "driver shutting down")                                                                                \
    DO(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                                                 \
    DO(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                                                           \
    DO(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                                                \
    DO(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                                                            \
    DO(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                                                        \
    DO(cudaErrorInvalidTexture, 18, "invalid texture reference")                                                                           \
    DO(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                                                                \
    DO(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                                           \
    DO(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")                                    \
    DO(cudaErrorMissingConfiguration, 52, "__global__ function call is not configured")                                                    \
    DO(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                                                      \
    DO(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                                                       \
    DO(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                                              \
    DO(cudaErrorStartupFailure, 127, "startup failure in cuda runtime")                                                                    \
    DO(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                                                                 \
    DO(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")                                   \
    DO(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                                                           \
    DO(cudaErrorInvalidSource, 300, "device kernel image is invalid")                                                                      \
    DO(cudaErrorFileNotFound, 301, "file not found")                                                                                       \
    DO(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                                                     \
    DO(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")                                               \
    DO(cudaErrorSymbolNotFound, 500, "named symbol not found")                                                                             \
    DO(cudaErrorNotReady, 600, "device not ready")                                                                                         \
    DO(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                                           \
    DO(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                                                      \
    DO(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                                             \
    DO(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                                           \
    DO(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                                                             \
    DO(cudaErrorAssert, 710, "device-side assert triggered")                                                                               \
    DO(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped")                           \
    DO(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")                                 \
    DO(cudaErrorMisalignedAddress, 716, "misaligned address")                                                                              \
    DO(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                                                          \
    DO(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                                                   \
    DO(cudaErrorNotPermitted, 800, "operation not permitted")                                                                              \
    DO(cudaErrorNotSupported, 801, "operation not supported")                                                                              \
    DO(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")                                         \
    DO(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                                                          \
    DO(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")                                    \
    DO(cudaErrorGraphExecUpdateFailure, 910, "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update")\
    DO(cudaErrorUnknown, 999, "unknown error")

#define GPUPROF_ERROR(NAME, VALUE, TEXT) NAME = VALUE,
enum cudaError { GPUPROF_ERRORS(GPUPROF_ERROR) };
#undef GPUPROF_ERROR
typedef enum cudaError cudaError_t;
