// Device code that a program loads itself, and the handles of its kernels.
#pragma once

#include "runtime.h"

typedef struct CUlib_st *cudaLibrary_t;
typedef struct CUkern_st *cudaKernel_t;

enum cudaJitOption {
    cudaJitMaxRegisters = 0,
    cudaJitThreadsPerBlock = 1,
    cudaJitWallTime = 2,
    cudaJitInfoLogBuffer = 3,
    cudaJitInfoLogBufferSizeBytes = 4,
    cudaJitErrorLogBuffer = 5,
    cudaJitErrorLogBufferSizeBytes = 6,
    cudaJitOptimizationLevel = 7,
    cudaJitFallbackStrategy = 10,
    cudaJitGenerateDebugInfo = 11,
    cudaJitLogVerbose = 12,
    cudaJitGenerateLineInfo = 13,
    cudaJitCacheMode = 14,
    cudaJitPositionIndependentCode = 30,
    cudaJitMinCtaPerSm = 31,
    cudaJitMaxThreadsPerBlock = 32,
    cudaJitOverrideDirectiveValues = 33,
};
enum cudaLibraryOption { cudaLibraryHostUniversalFunctionAndDataTable, cudaLibraryBinaryIsPreserved };

GPUPROF_C_BEGIN
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *options, void **values, unsigned int n_options,
                                enum cudaLibraryOption *library_options, void **library_values, unsigned int n_library_options);
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *file, enum cudaJitOption *options, void **values, unsigned int n_options,
                                    enum cudaLibraryOption *library_options, void **library_values, unsigned int n_library_options);
cudaError_t cudaLibraryUnload(cudaLibrary_t library);
cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name);
cudaError_t cudaLibraryGetGlobal(void **p, size_t *nbytes, cudaLibrary_t library, const char *name);
cudaError_t cudaLibraryGetManaged(void **p, size_t *nbytes, cudaLibrary_t library, const char *name);
cudaError_t cudaLibraryGetKernelCount(unsigned int *n, cudaLibrary_t library);
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int n, cudaLibrary_t library);
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attribute, int value, int device);
cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function);
GPUPROF_C_END

#if defined(__cplusplus) && !defined(GPUPROF_RUNTIME)
template <typename T> GPUPROF_FACE cudaError_t cudaGetKernel(cudaKernel_t *kernel, T *function) { return cudaGetKernel(kernel, (const void *)function); }
template <typename T> GPUPROF_FACE cudaError_t cudaLibraryGetGlobal(T **p, size_t *nbytes, cudaLibrary_t library, const char *name)
{
    return cudaLibraryGetGlobal((void **)p, nbytes, library, name);
}
#endif
