// Launches, and what is asked of kernels.
#include "launches.h"
#include "graphs.h"
#include "registered.h"

#include <stdlib.h>
#include <string.h>

namespace gpuprof {

cudaError_t prepare(Launch *made, const Kernel *kernel, dim3 grid, dim3 block, void **arguments, const void *packed, size_t packed_nbytes,
                    size_t shared_nbytes, unsigned flags)
{
    if (kernel->n_params && !arguments && packed_nbytes < kernel->params_nbytes)
        return cudaErrorInvalidValue;
    *made = {kernel, grid, block, dim3(0, 0, 0), shared_nbytes, flags, (char *)calloc(1, kernel->params_nbytes + 1), nullptr};
    if (!arguments)
        memcpy(made->params, packed, kernel->n_params ? kernel->params_nbytes : 0);
    for (unsigned i = 0; arguments && i < kernel->n_params; ++i)
        memcpy(made->params + kernel->params[i].offset, arguments[i], kernel->params[i].nbytes);
    for (unsigned i = 0; i < kernel->n_params; ++i)
        if (kernel->params[i].nbytes == sizeof(void *))
            to_device_address((void **)(made->params + kernel->params[i].offset));
    return cudaSuccess;
}

cudaError_t start(const Launch &launch, cudaStream_t stream)
{
    const dim3 &grid = launch.grid, &block = launch.block, &cluster = launch.cluster;
    const Reply reply =
        ask_with(Payload{launch.params, launch.kernel->params_nbytes}, nullptr, Call::launch, launch.kernel->function, grid.x, grid.y, grid.z,
                 block.x, block.y, block.z, launch.shared_nbytes, number(stream), launch.flags, cluster.x, cluster.y, cluster.z);
    if (reply.status || !launch.event)
        return reply.status;
    return record_now(launch.event, stream);
}

// Attributes that say how, not what, change nothing here.
cudaError_t take(Launch *made, const cudaLaunchAttribute &attribute)
{
    const cudaLaunchAttributeValue &value = attribute.val;
    switch (attribute.id) {
    case cudaLaunchAttributeClusterDimension: made->cluster = dim3(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z); return cudaSuccess;
    case cudaLaunchAttributeCooperative: made->flags |= value.cooperative ? is_cooperative : 0; return cudaSuccess;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
        made->flags |= value.programmaticStreamSerializationAllowed ? is_dependent : 0;
        return cudaSuccess;
    case cudaLaunchAttributeProgrammaticEvent: made->event = value.programmaticEvent.event; return cudaSuccess;
    case cudaLaunchAttributeLaunchCompletionEvent: made->event = value.launchCompletionEvent.event; return cudaSuccess;
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributePreferredClusterDimension:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case cudaLaunchAttributeNvlinkUtilCentricScheduling: return cudaSuccess;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        return value.deviceUpdatableKernelNode.deviceUpdatable ? not_supported("a kernel node that the device updates") : cudaSuccess;
    default: return cudaErrorInvalidValue;
    }
}

void discard(Launch *launch)
{
    free(launch->params);
    launch->params = nullptr;
}

cudaError_t launch_now(Launch *launch, cudaStream_t stream)
{
    Graph *graph;
    cudaError_t status = enter(stream, &graph);
    if (!status && graph)
        return add_launch(graph, stream, *launch);
    status = status ? status : start(*launch, stream);
    discard(launch);
    return status;
}

} // namespace gpuprof

using namespace gpuprof;

namespace {

struct Configuration {
    dim3 grid, block;
    size_t shared_nbytes;
    void *stream;
    const void *place; // of `<<<>>>`
};
constexpr int most_nested = 16; // an argument of a launch may launch
thread_local Configuration pushed[most_nested];
thread_local int n_pushed = 0;

cudaError_t launch(const void *stub, dim3 grid, dim3 block, void **arguments, size_t shared_nbytes, cudaStream_t stream, unsigned flags)
{
    cudaError_t status;
    const Kernel *kernel = kernel_to_launch(stub, &status);
    Launch made;
    if (kernel)
        status = prepare(&made, kernel, grid, block, arguments, nullptr, 0, shared_nbytes, flags);
    return status ? status : launch_now(&made, stream);
}

cudaError_t launch(const cudaLaunchConfig_t *config, const void *stub, void **arguments)
{
    cudaError_t status;
    const Kernel *kernel = kernel_to_launch(stub, &status);
    if (!config || !kernel)
        return kernel ? cudaErrorInvalidValue : status;
    Launch made;
    status = prepare(&made, kernel, config->gridDim, config->blockDim, arguments, nullptr, 0, config->dynamicSmemBytes, 0);
    for (unsigned i = 0; i < config->numAttrs && !status; ++i)
        status = take(&made, config->attrs[i]);
    return status ? status : launch_now(&made, config->stream);
}

cudaError_t set_attribute(Kernel *kernel, cudaFuncAttribute attribute, int value)
{
    cudaFuncAttributes &known = kernel->attributes;
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: {
        const cudaError_t status = ask(Call::shared_limit, kernel->function, (long long)value).status;
        known.maxDynamicSharedSizeBytes = status ? known.maxDynamicSharedSizeBytes : value;
        return status;
    }
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared)
            return cudaErrorInvalidValue;
        known.preferredShmemCarveout = value;
        return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        known.nonPortableClusterSizeAllowed = value;
        return value == 0 || value == 1 ? cudaSuccess : cudaErrorInvalidValue;
    case cudaFuncAttributeClusterSchedulingPolicyPreference: known.clusterSchedulingPolicyPreference = value; return cudaSuccess;
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth: return not_supported("a cluster that a kernel's attribute requires");
    default: return cudaErrorInvalidValue;
    }
}

unsigned blocks_of(const dim3 &extents) { return extents.x * extents.y * extents.z; }

// Blocks of a cluster, by the configuration's attribute; 0: it has none.
unsigned cluster_of(const cudaLaunchConfig_t *config)
{
    Launch found = {};
    for (unsigned i = 0; i < config->numAttrs; ++i)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            take(&found, config->attrs[i]);
    return blocks_of(found.cluster);
}

cudaError_t clusters(unsigned long long *words, const void *stub, const cudaLaunchConfig_t *config, unsigned n_blocks)
{
    cudaError_t status;
    const Kernel *kernel = kernel_of(stub, &status);
    if (!kernel || !config)
        return kernel ? cudaErrorInvalidValue : status;
    const Reply reply = ask(Call::clusters, kernel->function, blocks_of(config->blockDim), config->dynamicSmemBytes, n_blocks,
                            kernel->attributes.nonPortableClusterSizeAllowed);
    memcpy(words, reply.words, clusters_gives::count * sizeof *words);
    return reply.status;
}

} // namespace

extern "C" {

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_nbytes, void *stream)
{
    if (n_pushed == most_nested)
        return 1;
    pushed[n_pushed++] = {grid, block, shared_nbytes, stream, __builtin_return_address(0)};
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
    called_from(top.place);
    return 0;
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_nbytes, cudaStream_t stream)
{
    return result(launch(kernel, grid, block, arguments, shared_nbytes, stream, 0));
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
    return result(launch(kernel, grid, block, arguments, shared_nbytes, stream, is_cooperative));
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments)
{
    return result(launch(config, kernel, arguments));
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
    Kernel *kernel = (Kernel *)kernel_of(stub, &status);
    return result(kernel ? set_attribute(kernel, attribute, value) : status);
}
cudaError_t cudaFuncGetName(const char **name, const void *stub)
{
    cudaError_t status;
    const Kernel *kernel = kernel_of(stub, &status);
    if (kernel && name)
        *name = kernel->symbol;
    return result(kernel && !name ? cudaErrorInvalidValue : status);
}
cudaError_t cudaFuncGetParamInfo(const void *stub, size_t index, size_t *offset, size_t *nbytes)
{
    cudaError_t status;
    const Kernel *kernel = kernel_of(stub, &status);
    if (!kernel || !offset || index >= kernel->n_params)
        return result(kernel ? cudaErrorInvalidValue : status);
    *offset = kernel->params[index].offset;
    if (nbytes)
        *nbytes = kernel->params[index].nbytes;
    return result(cudaSuccess);
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
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *stub, int block_threads, size_t shared_nbytes,
                                                                   unsigned int)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, stub, block_threads, shared_nbytes);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared_nbytes, const void *stub, int blocks, int block_threads)
{
    cudaError_t status;
    const Kernel *kernel = kernel_of(stub, &status);
    if (!kernel || !shared_nbytes)
        return result(kernel ? cudaErrorInvalidValue : status);
    const Reply reply = ask(Call::shared_available, kernel->function, (long long)blocks, (long long)block_threads);
    *shared_nbytes = reply.words[shared_available_gives::nbytes];
    return result(reply.status);
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *n_blocks, const void *stub, const cudaLaunchConfig_t *config)
{
    unsigned long long words[clusters_gives::count];
    const cudaError_t status = n_blocks ? clusters(words, stub, config, 0) : cudaErrorInvalidValue;
    if (!status)
        *n_blocks = (int)words[clusters_gives::largest];
    return result(status);
}
cudaError_t cudaOccupancyMaxActiveClusters(int *found, const void *stub, const cudaLaunchConfig_t *config)
{
    unsigned long long words[clusters_gives::count];
    const unsigned n_blocks = config ? cluster_of(config) : 0;
    const cudaError_t status = found && n_blocks ? clusters(words, stub, config, n_blocks) : cudaErrorInvalidValue;
    if (!status)
        *found = (int)words[clusters_gives::active];
    return result(status);
}
}
