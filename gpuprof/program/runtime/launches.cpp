// Launches, and what is asked of kernels.
#include "modules.h"

#include <stdlib.h>
#include <string.h>

using namespace gpuprof;

namespace {

struct Configuration {
    dim3 grid, block;
    size_t shared_nbytes;
    void *stream;
};
constexpr int most_nested = 16; // an argument of a launch may launch
thread_local Configuration pushed[most_nested];
thread_local int n_pushed = 0;

cudaError_t launch(const void *stub, dim3 grid, dim3 block, void **arguments, size_t shared_nbytes, cudaStream_t stream, bool cooperative)
{
    cudaError_t status;
    const Kernel *kernel = kernel_of(stub, &status);
    if (!kernel)
        return status;
    char small[4096];
    char *params = kernel->params_nbytes <= sizeof small ? small : (char *)malloc(kernel->params_nbytes);
    memset(params, 0, kernel->params_nbytes);
    for (unsigned i = 0; i < kernel->n_params; ++i)
        memcpy(params + kernel->params[i].offset, arguments[i], kernel->params[i].nbytes);
    const Reply reply = ask_with(Payload{params, kernel->params_nbytes}, nullptr, Call::launch, kernel->function, grid.x, grid.y, grid.z, block.x, block.y,
                            block.z, shared_nbytes, number(stream), cooperative);
    if (params != small)
        free(params);
    return reply.status;
}

} // namespace

extern "C" {

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_nbytes, void *stream)
{
    if (n_pushed == most_nested)
        return 1;
    pushed[n_pushed++] = {grid, block, shared_nbytes, stream};
    return 0;
}
unsigned int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_nbytes, void *stream)
{
    if (!n_pushed)
        return cudaErrorMissingConfiguration;
    const Configuration &top = pushed[--n_pushed];
    *grid = top.grid;
    *block = top.block;
    *shared_nbytes = top.shared_nbytes;
    *(void **)stream = top.stream;
    return 0;
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_nbytes, cudaStream_t stream)
{
    return result(launch(kernel, grid, block, arguments, shared_nbytes, stream, false));
}
// What nvcc's launches call, version 13 and later: a kernel's handle is its address.
cudaError_t __cudaGetKernel(const void **kernel, const void *stub)
{
    *kernel = stub;
    return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_nbytes, cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, grid, block, arguments, shared_nbytes, stream);
}
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_nbytes, cudaStream_t stream)
{
    return result(launch(kernel, grid, block, arguments, shared_nbytes, stream, true));
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *stub)
{
    cudaError_t status;
    const Kernel *kernel = kernel_of(stub, &status);
    if (kernel)
        *attributes = kernel->attributes;
    return result(status);
}
cudaError_t cudaFuncSetAttribute(const void *stub, cudaFuncAttribute attribute, int value)
{
    cudaError_t status;
    const Kernel *kernel = kernel_of(stub, &status);
    if (kernel && attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
        status = ask(Call::shared_limit, kernel->function, (long long)value).status;
    return result(status);
}
cudaError_t cudaFuncSetCacheConfig(const void *stub, cudaFuncCache)
{
    cudaError_t status;
    kernel_of(stub, &status);
    return result(status);
}
cudaError_t cudaFuncSetSharedMemConfig(const void *stub, cudaSharedMemConfig) { return cudaFuncSetCacheConfig(stub, cudaFuncCachePreferNone); }

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *stub, int block_threads, size_t shared_nbytes)
{
    cudaError_t status;
    const Kernel *kernel = kernel_of(stub, &status);
    if (!kernel)
        return result(status);
    const Reply reply = ask(Call::occupancy, kernel->function, (long long)block_threads, shared_nbytes);
    *blocks = (int)reply.words[occupancy_gives::blocks];
    return result(reply.status);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *stub, int block_threads, size_t shared_nbytes, unsigned int)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, stub, block_threads, shared_nbytes);
}
}
