// Launches of a module's functions, and what is asked of these.
#include "driver_modules.h"
#include "launches.h"

#include <string.h>

using namespace gpuprof;

namespace {

struct Attributes {
    const CUlaunchAttribute *first;
    unsigned n;
};

CUresult launch(CUfunction function, dim3 grid, dim3 block, unsigned shared_nbytes, CUstream stream, void **arguments, void **extra, unsigned flags,
                Attributes attributes = {})
{
    const void *packed;
    size_t nbytes;
    if (!is_function(function))
        return CUDA_ERROR_INVALID_HANDLE;
    if ((arguments && extra) || packed_of(extra, &packed, &nbytes) || (attributes.n && !attributes.first))
        return CUDA_ERROR_INVALID_VALUE;
    Launch made;
    cudaError_t status = prepare(&made, &function->kernel, grid, block, arguments, packed, nbytes, shared_nbytes, flags);
    if (status)
        return as(status);
    made.cluster = dim3((unsigned)function->cluster[0], (unsigned)function->cluster[1], (unsigned)function->cluster[2]);
    for (unsigned i = 0; i < attributes.n && !status; ++i)
        status = take(&made, (const cudaLaunchAttribute &)attributes.first[i]); // the runtime's have the same layout
    if (status)
        discard(&made);
    return as(status ? status : launch_now(&made, stream));
}

CUresult launch(const CUlaunchConfig *config, CUfunction function, void **arguments, void **extra)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    const CUlaunchConfig &how = *config;
    return launch(function, dim3(how.gridDimX, how.gridDimY, how.gridDimZ), dim3(how.blockDimX, how.blockDimY, how.blockDimZ), how.sharedMemBytes,
                  how.hStream, arguments, extra, 0, {how.attrs, how.numAttrs});
}

// cuLaunch and its kind: block and parameters are set before.
CUresult launch_set(CUfunction function, int grid_x, int grid_y, CUstream stream)
{
    if (!is_function(function))
        return CUDA_ERROR_INVALID_HANDLE;
    if (grid_x <= 0 || grid_y <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    size_t nbytes = function->params_nbytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, function->params, CU_LAUNCH_PARAM_BUFFER_SIZE, &nbytes, CU_LAUNCH_PARAM_END};
    return launch(function, dim3((unsigned)grid_x, (unsigned)grid_y), function->block, function->shared_nbytes, stream, nullptr, extra, 0);
}

CUresult set_param(CUfunction function, int offset, const void *from, size_t nbytes)
{
    if (!is_function(function))
        return CUDA_ERROR_INVALID_HANDLE;
    if (offset < 0 || !from || offset + nbytes > sizeof function->params)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(function->params + offset, from, nbytes);
    return CUDA_SUCCESS;
}

// Where an attribute that the program sets is kept; null for those that are the function's own.
int *place_of(CUfunction function, CUfunction_attribute attribute)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return &function->most_dynamic_nbytes;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return &function->carveout;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: return &function->cluster[0];
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: return &function->cluster[1];
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: return &function->cluster[2];
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: return &function->is_non_portable;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return &function->cluster_policy;
    default: return nullptr;
    }
}

CUresult attribute_of(CUfunction function, CUfunction_attribute attribute, int *value)
{
    const cudaFuncAttributes &known = function->kernel.attributes;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = known.maxThreadsPerBlock; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)known.sharedSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)known.constSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)known.localSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = known.numRegs; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = known.ptxVersion; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = known.binaryVersion; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = 0; break;
    default: {
        const int *set = place_of(function, attribute);
        if (!set)
            return CUDA_ERROR_INVALID_VALUE;
        *value = *set;
    }
    }
    return CUDA_SUCCESS;
}

bool is_value(CUfunction_attribute attribute, int value)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return value >= -1 && value <= 100; // percent
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: return value == 0 || value == 1;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return value >= 0 && value <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
    default: return value >= 0;
    }
}

CUresult set_attribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    int *set = place_of(function, attribute);
    if (!set || !is_value(attribute, value))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult error = CUDA_SUCCESS;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        error = as(ask(Call::shared_limit, function->kernel.function, (long long)value).status);
    if (!error)
        *set = value;
    return error;
}

// `how` is about a function, which it has checked.
template <Needs needs = Needs::context, typename How> CUresult about(CUfunction function, bool has_places, How how)
{
    return driver_call<needs>([=] {
        if (!is_function(function))
            return CUDA_ERROR_INVALID_HANDLE;
        return has_places ? how() : CUDA_ERROR_INVALID_VALUE;
    });
}

CUresult parameter_of(CUfunction function, size_t index, size_t *offset, size_t *nbytes)
{
    if (index >= function->kernel.n_params)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = function->kernel.params[index].offset;
    if (nbytes)
        *nbytes = function->kernel.params[index].nbytes;
    return CUDA_SUCCESS;
}

CUresult resident_blocks(CUfunction function, int block_threads, size_t shared_nbytes, int *blocks)
{
    const Reply reply = ask(Call::occupancy, function->kernel.function, (long long)block_threads, shared_nbytes);
    *blocks = (int)reply.words[occupancy_gives::blocks];
    return as(reply.status);
}

int device_value(cudaDeviceAttr attribute)
{
    int value = 0;
    cudaDeviceGetAttribute(&value, attribute, 0);
    return value;
}

// The block size with the most resident threads, the largest where several have as many.
CUresult best_block(int *grid_blocks, int *block_threads, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared_nbytes, int most_threads)
{
    constexpr int warp = 32;
    const int most = function->kernel.attributes.maxThreadsPerBlock, sms = device_value(cudaDevAttrMultiProcessorCount);
    const int limit = most_threads > 0 && most_threads < most ? most_threads : most;
    int best = 0;
    OneCall whole;
    for (int aligned = (limit + warp - 1) / warp * warp; aligned > 0; aligned -= warp) {
        const int threads = aligned < limit ? aligned : limit;
        int blocks = 0;
        if (const CUresult error = resident_blocks(function, threads, shared_of ? shared_of(threads) : shared_nbytes, &blocks))
            return error;
        if (blocks * threads <= best)
            continue;
        best = blocks * threads;
        *block_threads = threads;
        *grid_blocks = blocks * sms;
    }
    return best ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// The runtime's configuration, without the grid's stream.
cudaLaunchConfig_t read(const CUlaunchConfig &how)
{
    return {dim3(how.gridDimX, how.gridDimY, how.gridDimZ),
            dim3(how.blockDimX, how.blockDimY, how.blockDimZ),
            how.sharedMemBytes,
            how.hStream,
            (cudaLaunchAttribute *)how.attrs,
            how.numAttrs};
}

// The most that `blocks` of them on a multiprocessor leave to each.
CUresult available_shared(CUfunction function, int blocks, int block_threads, size_t *nbytes)
{
    if (blocks <= 0 || block_threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    int resident = 0;
    OneCall whole;
    CUresult error = resident_blocks(function, block_threads, 0, &resident);
    if (error || resident < blocks)
        return error ? error : CUDA_ERROR_INVALID_VALUE;
    size_t fits = 0, too_many = (size_t)device_value(cudaDevAttrMaxSharedMemoryPerBlockOptin) - function->kernel.attributes.sharedSizeBytes + 1;
    while (fits + 1 < too_many && !error) {
        const size_t middle = (fits + too_many) / 2;
        error = resident_blocks(function, block_threads, middle, &resident);
        (resident >= blocks ? fits : too_many) = middle;
    }
    *nbytes = fits;
    return error;
}

} // namespace

CUresult gpuprof::packed_of(void **extra, const void **packed, size_t *nbytes)
{
    *packed = nullptr;
    *nbytes = 0;
    for (; extra && extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *packed = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *nbytes = *(size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

extern "C" {
CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                        unsigned int block_y, unsigned int block_z, unsigned int shared_nbytes, CUstream stream, void **arguments, void **extra)
{
    return driver_call(
        [=] { return launch(function, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared_nbytes, stream, arguments, extra, 0); });
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments, void **extra)
{
    return driver_call([=] { return launch(config, function, arguments, extra); });
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                                   unsigned int block_y, unsigned int block_z, unsigned int shared_nbytes, CUstream stream, void **arguments)
{
    return driver_call([=] {
        return launch(function, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared_nbytes, stream, arguments, nullptr,
                      is_cooperative);
    });
}
CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z)
{
    return about(function, x > 0 && y > 0 && z > 0, [=] {
        function->block = dim3((unsigned)x, (unsigned)y, (unsigned)z);
        return CUDA_SUCCESS;
    });
}
CUresult cuFuncSetSharedSize(CUfunction function, unsigned int nbytes)
{
    return about(function, true, [=] {
        function->shared_nbytes = nbytes;
        return CUDA_SUCCESS;
    });
}
CUresult cuParamSetSize(CUfunction function, unsigned int nbytes)
{
    return about(function, nbytes <= sizeof function->params, [=] {
        function->params_nbytes = nbytes;
        return CUDA_SUCCESS;
    });
}
CUresult cuParamSeti(CUfunction function, int offset, unsigned int value)
{
    return driver_call([=] { return set_param(function, offset, &value, sizeof value); });
}
CUresult cuParamSetf(CUfunction function, int offset, float value)
{
    return driver_call([=] { return set_param(function, offset, &value, sizeof value); });
}
CUresult cuParamSetv(CUfunction function, int offset, void *p, unsigned int nbytes)
{
    return driver_call([=] { return set_param(function, offset, p, nbytes); });
}
CUresult cuLaunch(CUfunction function)
{
    return driver_call([=] { return launch_set(function, 1, 1, 0); });
}
CUresult cuLaunchGrid(CUfunction function, int grid_x, int grid_y)
{
    return driver_call([=] { return launch_set(function, grid_x, grid_y, 0); });
}
CUresult cuLaunchGridAsync(CUfunction function, int grid_x, int grid_y, CUstream stream)
{
    return driver_call([=] { return launch_set(function, grid_x, grid_y, stream); });
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    return about(function, value, [=] { return attribute_of(function, attribute, value); });
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    return about(function, true, [=] { return set_attribute(function, attribute, value); });
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    return about(function, (unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL, [] { return CUDA_SUCCESS; });
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config)
{
    return about(function, (unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE, [] { return CUDA_SUCCESS; });
}
CUresult cuFuncGetName(const char **name, CUfunction function)
{
    return about(function, name, [=] {
        *name = function->name;
        return CUDA_SUCCESS;
    });
}
CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    return about(function, module, [=] {
        *module = function->module;
        return CUDA_SUCCESS;
    });
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *nbytes)
{
    return about(function, offset, [=] { return parameter_of(function, index, offset, nbytes); });
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    return about(function, state, [=] {
        *state = CU_FUNCTION_LOADING_STATE_LOADED;
        return CUDA_SUCCESS;
    });
}
CUresult cuFuncLoad(CUfunction function)
{
    return about(function, true, [] { return CUDA_SUCCESS; });
}
CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device)
{
    CUfunction function = (CUfunction)kernel;
    return about<Needs::cu_init>(function, value, [=] { return device ? CUDA_ERROR_INVALID_DEVICE : attribute_of(function, attribute, value); });
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device)
{
    CUfunction function = (CUfunction)kernel;
    return about<Needs::cu_init>(function, true, [=] { return device ? CUDA_ERROR_INVALID_DEVICE : set_attribute(function, attribute, value); });
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device)
{
    return about<Needs::cu_init>((CUfunction)kernel, (unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL,
                                 [=] { return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS; });
}
CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
    return about<Needs::cu_init>((CUfunction)kernel, name, [=] {
        *name = ((CUfunction)kernel)->name;
        return CUDA_SUCCESS;
    });
}
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *nbytes)
{
    return about<Needs::cu_init>((CUfunction)kernel, offset, [=] { return parameter_of((CUfunction)kernel, index, offset, nbytes); });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int block_threads, size_t shared_nbytes,
                                                              unsigned int flags)
{
    return about(function, blocks && block_threads > 0 && !(flags & ~CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE),
                 [=] { return resident_blocks(function, block_threads, shared_nbytes, blocks); });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_threads, size_t shared_nbytes)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads, shared_nbytes, CU_OCCUPANCY_DEFAULT);
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid_blocks, int *block_threads, CUfunction function, CUoccupancyB2DSize shared_of,
                                                   size_t shared_nbytes, int most_threads, unsigned int flags)
{
    return about(function, grid_blocks && block_threads && !(flags & ~CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE),
                 [=] { return best_block(grid_blocks, block_threads, function, shared_of, shared_nbytes, most_threads); });
}
CUresult cuOccupancyMaxPotentialBlockSize(int *grid_blocks, int *block_threads, CUfunction function, CUoccupancyB2DSize shared_of,
                                          size_t shared_nbytes, int most_threads)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid_blocks, block_threads, function, shared_of, shared_nbytes, most_threads,
                                                     CU_OCCUPANCY_DEFAULT);
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *nbytes, CUfunction function, int blocks, int block_threads)
{
    return about(function, nbytes, [=] { return available_shared(function, blocks, block_threads, nbytes); });
}
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config)
{
    return about(function, clusters && config, [=] {
        const cudaLaunchConfig_t how = read(*config);
        return as(cudaOccupancyMaxActiveClusters(clusters, function, &how));
    });
}
CUresult cuOccupancyMaxPotentialClusterSize(int *blocks, CUfunction function, const CUlaunchConfig *config)
{
    return about(function, blocks && config, [=] {
        const cudaLaunchConfig_t how = read(*config);
        return as(cudaOccupancyMaxPotentialClusterSize(blocks, function, &how));
    });
}
}
