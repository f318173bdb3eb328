// Kernels that launch kernels. Clang lowers `kernel<<<grid, block, shared, stream>>>(...)` in device code to the two functions of the end.
#pragma once

#include "runtime.h"

#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)

struct gpuprof_launch_request {
    void *kernel;
    unsigned int grid[3], block[3], shared_nbytes;
};

extern "C" {
__device__ void *gpuprof_parameter_room(size_t nbytes);
__device__ int gpuprof_describe_launch(const gpuprof_launch_request *request, void *parameters);
__device__ cudaError_t cudaLaunchDeviceV2(void *parameters, cudaStream_t stream);
__device__ cudaStream_t gpuprof_new_stream(void);

__device__ inline __attribute__((nodebug)) cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int)
{
    *stream = gpuprof_new_stream();
    return cudaSuccess;
}
__device__ inline __attribute__((nodebug)) cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
__device__ inline __attribute__((nodebug)) cudaError_t cudaGetLastError(void) { return cudaSuccess; }
__device__ inline __attribute__((nodebug)) cudaError_t cudaPeekAtLastError(void) { return cudaSuccess; }

__device__ inline __attribute__((nodebug)) void *cudaGetParameterBuffer(size_t, size_t nbytes) { return gpuprof_parameter_room(nbytes); }
__device__ inline __attribute__((nodebug)) cudaError_t cudaLaunchDevice(void *kernel, void *parameters, dim3 grid, dim3 block,
                                                                        unsigned int shared_nbytes, cudaStream_t stream)
{
    const gpuprof_launch_request request = {kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_nbytes};
    gpuprof_describe_launch(&request, parameters);
    return cudaLaunchDeviceV2(parameters, stream);
}
}
