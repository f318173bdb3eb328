// The runtime's errors: name, number and text, as CUDA has them.
#pragma once

#define GPUPROF_ERRORS(DO)                                                                                                                 \
    DO(cudaSuccess, 0, "no error")                                                                                                         \
    DO(cudaErrorInvalidValue, 1, "invalid argument")                                                                                       \
    DO(cudaErrorMemoryAllocation, 2, "out of memory")                                                                                      \
    DO(cudaErrorInitializationError, 3, "initialization error")                                                                            \
    DO(cudaErrorCudartUnloading, 4, "driver shutting down")                                                                                \
    DO(cudaErrorProfilerDisabled, 5, "profiler disabled while using external profiling tool")                                              \
    DO(cudaErrorProfilerNotInitialized, 6, "profiler not initialized: call cudaProfilerInitialize()")                                      \
    DO(cudaErrorProfilerAlreadyStarted, 7, "profiler already started")                                                                     \
    DO(cudaErrorProfilerAlreadyStopped, 8, "profiler already stopped")                                                                     \
    DO(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                                                 \
    DO(cudaErrorVersionTranslation, 10, "Driver is newer than runtime and returned parameters the runtime cannot process")                 \
    DO(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                                                           \
    DO(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                                                \
    DO(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                                                            \
    DO(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                                                        \
    DO(cudaErrorInvalidTexture, 18, "invalid texture reference")                                                                           \
    DO(cudaErrorInvalidTextureBinding, 19, "texture is not bound to a pointer")                                                            \
    DO(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                                                                \
    DO(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                                           \
    DO(cudaErrorAddressOfConstant, 22, "invalid address of constant")                                                                      \
    DO(cudaErrorTextureFetchFailed, 23, "fetch from texture failed")                                                                       \
    DO(cudaErrorTextureNotBound, 24, "cannot fetch from a texture that is not bound")                                                      \
    DO(cudaErrorSynchronizationError, 25, "incorrect use of __syncthreads()")                                                              \
    DO(cudaErrorInvalidFilterSetting, 26, "linear filtering not supported for non-float type")                                             \
    DO(cudaErrorInvalidNormSetting, 27, "read as normalized float not supported for data type")                                            \
    DO(cudaErrorMixedDeviceExecution, 28, "device emulation mode and device execution mode cannot be mixed")                               \
    DO(cudaErrorNotYetImplemented, 31, "feature not yet implemented")                                                                      \
    DO(cudaErrorMemoryValueTooLarge, 32, "memory size or pointer value too large to fit in 32 bit")                                        \
    DO(cudaErrorStubLibrary, 34, "CUDA driver is a stub library")                                                                          \
    DO(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")                                    \
    DO(cudaErrorCallRequiresNewerDriver, 36, "API call is not supported in the installed CUDA driver")                                     \
    DO(cudaErrorInvalidSurface, 37, "invalid surface reference")                                                                           \
    DO(cudaErrorDuplicateVariableName, 43, "duplicate global variable looked up by string name")                                           \
    DO(cudaErrorDuplicateTextureName, 44, "duplicate texture looked up by string name")                                                    \
    DO(cudaErrorDuplicateSurfaceName, 45, "duplicate surface looked up by string name")                                                    \
    DO(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")                                               \
    DO(cudaErrorIncompatibleDriverContext, 49, "incompatible driver context")                                                              \
    DO(cudaErrorMissingConfiguration, 52, "__global__ function call is not configured")                                                    \
    DO(cudaErrorPriorLaunchFailure, 53, "unspecified launch failure in prior launch")                                                      \
    DO(cudaErrorLaunchMaxDepthExceeded, 65, "launch would exceed maximum depth of nested launches")                                        \
    DO(cudaErrorLaunchFileScopedTex, 66, "launch failed because kernel uses unsupported, file-scoped textures (texture objects are supported)") \
    DO(cudaErrorLaunchFileScopedSurf, 67, "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are supported)") \
    DO(cudaErrorSyncDepthExceeded, 68, "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth")    \
    DO(cudaErrorLaunchPendingCountExceeded, 69, "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount")         \
    DO(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                                                      \
    DO(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                                                       \
    DO(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                                              \
    DO(cudaErrorDeviceNotLicensed, 102, "device doesn't have valid Grid license")                                                          \
    DO(cudaErrorSoftwareValidityNotEstablished, 103, "integrity checks failed")                                                            \
    DO(cudaErrorStartupFailure, 127, "startup failure in cuda runtime")                                                                    \
    DO(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                                                                 \
    DO(cudaErrorDeviceUninitialized, 201, "invalid device context")                                                                        \
    DO(cudaErrorMapBufferObjectFailed, 205, "mapping of buffer object failed")                                                             \
    DO(cudaErrorUnmapBufferObjectFailed, 206, "unmapping of buffer object failed")                                                         \
    DO(cudaErrorArrayIsMapped, 207, "array is mapped")                                                                                     \
    DO(cudaErrorAlreadyMapped, 208, "resource already mapped")                                                                             \
    DO(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")                                   \
    DO(cudaErrorAlreadyAcquired, 210, "resource already acquired")                                                                         \
    DO(cudaErrorNotMapped, 211, "resource not mapped")                                                                                     \
    DO(cudaErrorNotMappedAsArray, 212, "resource not mapped as array")                                                                     \
    DO(cudaErrorNotMappedAsPointer, 213, "resource not mapped as pointer")                                                                 \
    DO(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                                              \
    DO(cudaErrorUnsupportedLimit, 215, "limit is not supported on this architecture")                                                      \
    DO(cudaErrorDeviceAlreadyInUse, 216, "exclusive-thread device already in use by a different thread")                                   \
    DO(cudaErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices")                                      \
    DO(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                                                           \
    DO(cudaErrorInvalidGraphicsContext, 219, "invalid OpenGL or DirectX context")                                                          \
    DO(cudaErrorNvlinkUncorrectable, 220, "uncorrectable NVLink error detected during the execution")                                      \
    DO(cudaErrorJitCompilerNotFound, 221, "PTX JIT compiler library not found")                                                            \
    DO(cudaErrorUnsupportedPtxVersion, 222, "the provided PTX was compiled with an unsupported toolchain.")                                \
    DO(cudaErrorJitCompilationDisabled, 223, "PTX JIT compilation was disabled")                                                           \
    DO(cudaErrorUnsupportedExecAffinity, 224, "the provided execution affinity is not supported")                                          \
    DO(cudaErrorUnsupportedDevSideSync, 225, "the provided PTX contains unsupported call to cudaDeviceSynchronize")                        \
    DO(cudaErrorContained, 226, "Invalid access of peer GPU memory over nvlink or a hardware error")                                       \
    DO(cudaErrorInsufficientLoaderVersion, 227, "Loader version is insufficient for fatbin")                                               \
    DO(cudaErrorInvalidSource, 300, "device kernel image is invalid")                                                                      \
    DO(cudaErrorFileNotFound, 301, "file not found")                                                                                       \
    DO(cudaErrorSharedObjectSymbolNotFound, 302, "shared object symbol not found")                                                         \
    DO(cudaErrorSharedObjectInitFailed, 303, "shared object initialization failed")                                                        \
    DO(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")                                              \
    DO(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                                                     \
    DO(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")                                               \
    DO(cudaErrorLossyQuery, 402, "attempted introspection would be semantically lossy")                                                    \
    DO(cudaErrorSymbolNotFound, 500, "named symbol not found")                                                                             \
    DO(cudaErrorNotReady, 600, "device not ready")                                                                                         \
    DO(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                                           \
    DO(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                                                      \
    DO(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                                             \
    DO(cudaErrorLaunchIncompatibleTexturing, 703, "launch uses incompatible texturing mode")                                               \
    DO(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                                           \
    DO(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                                                             \
    DO(cudaErrorSetOnActiveProcess, 708, "cannot set while device is active in this process")                                              \
    DO(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                                                           \
    DO(cudaErrorAssert, 710, "device-side assert triggered")                                                                               \
    DO(cudaErrorTooManyPeers, 711, "peer mapping resources exhausted")                                                                     \
    DO(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped")                           \
    DO(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")                                 \
    DO(cudaErrorHardwareStackError, 714, "hardware stack error")                                                                           \
    DO(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                                                         \
    DO(cudaErrorMisalignedAddress, 716, "misaligned address")                                                                              \
    DO(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")                                        \
    DO(cudaErrorInvalidPc, 718, "invalid program counter")                                                                                 \
    DO(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                                                          \
    DO(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                                                   \
    DO(cudaErrorTensorMemoryLeak, 721, "tensor memory not completely freed")                                                               \
    DO(cudaErrorNotPermitted, 800, "operation not permitted")                                                                              \
    DO(cudaErrorNotSupported, 801, "operation not supported")                                                                              \
    DO(cudaErrorSystemNotReady, 802, "system not yet initialized")                                                                         \
    DO(cudaErrorSystemDriverMismatch, 803, "system has unsupported display driver / cuda driver combination")                              \
    DO(cudaErrorCompatNotSupportedOnDevice, 804, "forward compatibility was attempted on non supported HW")                                \
    DO(cudaErrorMpsConnectionFailed, 805, "MPS client failed to connect to the MPS control daemon or the MPS server")                      \
    DO(cudaErrorMpsRpcFailure, 806, "the remote procedural call between the MPS server and the MPS client failed")                         \
    DO(cudaErrorMpsServerNotReady, 807, "MPS server is not ready to accept new MPS client requests")                                       \
    DO(cudaErrorMpsMaxClientsReached, 808, "the hardware resources required to create MPS client have been exhausted")                     \
    DO(cudaErrorMpsMaxConnectionsReached, 809, "the hardware resources required to support device connections have been exhausted")        \
    DO(cudaErrorMpsClientTerminated, 810, "the MPS client has been terminated by the server")                                              \
    DO(cudaErrorCdpNotSupported, 811, "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support it")   \
    DO(cudaErrorCdpVersionMismatch, 812, "unsupported interaction between different versions of CUDA Dynamic Parallelism")                 \
    DO(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")                                         \
    DO(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")                                  \
    DO(cudaErrorStreamCaptureMerge, 902, "operation would result in a merge of separate capture sequences")                                \
    DO(cudaErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began")                                       \
    DO(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                                                          \
    DO(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")                                    \
    DO(cudaErrorStreamCaptureImplicit, 906, "operation would make the legacy stream depend on a capturing blocking stream")                \
    DO(cudaErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream")                             \
    DO(cudaErrorStreamCaptureWrongThread, 908, "attempt to terminate a thread-local capture sequence from another thread")                 \
    DO(cudaErrorTimeout, 909, "wait operation timed out")                                                                                  \
    DO(cudaErrorGraphExecUpdateFailure, 910, "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update") \
    DO(cudaErrorExternalDevice, 911, "an async error has occured in external entity outside of CUDA")                                      \
    DO(cudaErrorInvalidClusterSize, 912, "a kernel launch error has occurred due to cluster misconfiguration")                             \
    DO(cudaErrorFunctionNotLoaded, 913, "the function handle is not loaded when calling an API that requires a loaded function")           \
    DO(cudaErrorInvalidResourceType, 914, "one or more resources passed in are not valid resource types for the operation")                \
    DO(cudaErrorInvalidResourceConfiguration, 915, "one or more resources are insufficient or non-applicable for the operation")           \
    DO(cudaErrorStreamDetached, 917, "API call not permitted since the green context associated with the stream has been destroyed")       \
    DO(cudaErrorGraphRecaptureFailure, 918, "recapturing to the source graph failed and had to be terminated")                             \
    DO(cudaErrorFabricNotReady, 919, "GPU fabric is not ready within the probe wait budget; application may retry (see CUDA_FABRIC_INIT_TIMEOUT_MS)") \
    DO(cudaErrorUnknown, 999, "unknown error")                                                                                             \
    DO(cudaErrorApiFailureBase, 10000, "api failure base")

#define GPUPROF_ERROR(NAME, VALUE, TEXT) NAME = VALUE,
enum cudaError { GPUPROF_ERRORS(GPUPROF_ERROR) };
#undef GPUPROF_ERROR
typedef enum cudaError cudaError_t;
