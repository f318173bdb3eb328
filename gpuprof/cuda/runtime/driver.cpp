// The driver's calls, in terms of the runtime's. There is one context.
#include "copies.h"
#include "gpuprof/driver.h"
#include "launches.h"
#include "graphs.h"
#include "registered.h"
#include "pools.h"

#include <stdio.h>

using namespace gpuprof;

struct CUmod_st {
    unsigned long long number;
    List<CUfunction> functions;
};
struct CUfunc_st {
    char *name;
    Kernel kernel;
};
struct CUctx_st {
    int device;
};

namespace {

CUctx_st context = {0};
thread_local CUcontext current = nullptr;

// Errors that only the runtime has become others here.
CUresult as(cudaError_t error)
{
    switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue: return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_NOT_FOUND;
    default: return (CUresult)error;
    }
}
void *pointer(CUdeviceptr p) { return (void *)p; }

CUresult load(CUmodule *made, Payload image)
{
    const Reply reply = ask_with(image, nullptr, Call::module_image);
    if (reply.status)
        return as(reply.status);
    *made = (CUmodule)calloc(1, sizeof **made);
    (*made)->number = reply.words[module_image_gives::module];
    return CUDA_SUCCESS;
}

constexpr unsigned elf = 0x464c457f, fat_binary = 0xba55ed50;

// The length of an image follows from its content: PTX ends with a zero.
CUresult load(CUmodule *made, const void *image)
{
    if (!made || !image)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned magic;
    memcpy(&magic, image, strnlen((const char *)image, sizeof magic));
    if (magic == elf || magic == fat_binary)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    return load(made, text((const char *)image));
}

CUresult load_file(CUmodule *made, const char *name)
{
    FILE *file = made && name ? fopen(name, "rb") : nullptr;
    if (!file)
        return made && name ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
    char *text = nullptr;
    size_t n = 0, room = 0, came = 0;
    do {
        if (room < n + 65537)
            text = (char *)realloc(text, room = 2 * room + 65537);
        came = fread(text + n, 1, 65536, file);
        n += came;
    } while (came);
    fclose(file);
    text[n] = 0;
    const CUresult status = load(made, (const void *)text);
    free(text);
    return status;
}

CUresult function_of(CUfunction *found, CUmodule module, const char *name)
{
    if (!found || !module || !name)
        return CUDA_ERROR_INVALID_VALUE;
    for (CUfunction each : module->functions)
        if (!strcmp(each->name, name)) {
            *found = each;
            return CUDA_SUCCESS;
        }
    Kernel kernel;
    const cudaError_t status = ask_kernel(module->number, name, &kernel);
    if (status)
        return as(status);
    *found = (CUfunction)calloc(1, sizeof **found);
    **found = {strdup(name), kernel};
    module->functions.add(*found);
    return CUDA_SUCCESS;
}

// `extra`: a list of names and values that names the packed parameters.
CUresult packed_of(void **extra, const void **packed, size_t *nbytes)
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

CUresult launch(CUfunction function, dim3 grid, dim3 block, unsigned shared_nbytes, CUstream stream, void **arguments, void **extra, unsigned flags)
{
    const void *packed;
    size_t nbytes;
    if (!function || (arguments && extra) || packed_of(extra, &packed, &nbytes))
        return CUDA_ERROR_INVALID_VALUE;
    Launch made;
    cudaError_t status = prepare(&made, &function->kernel, grid, block, arguments, packed, nbytes, shared_nbytes, flags);
    return as(result(status ? status : launch_now(&made, stream)));
}

CUresult fill_words(CUdeviceptr p, unsigned value, unsigned element_nbytes, size_t n, CUstream stream)
{
    if (p % element_nbytes)
        return CUDA_ERROR_INVALID_VALUE;
    const unsigned byte = value & 0xff;
    if (element_nbytes == 1 || captured_by(stream))
        return element_nbytes == 1 ? as(result(fill(pointer(p), (int)byte, n, stream))) : as(result(cudaErrorNotSupported));
    if (!n)
        return CUDA_SUCCESS;
    return as(result(ask(Call::fill_words, p, n * element_nbytes, value, element_nbytes, 0, 1, number(stream)).status));
}

size_t nbytes_of(CUpointer_attribute attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_MAPPED: return sizeof(int);
    default: return sizeof(void *);
    }
}

struct Named {
    CUresult error;
    const char *name;
};
#define GPUPROF_DRIVER_ERROR(NAME, VALUE) {NAME, #NAME},
const Named named[] = {GPUPROF_DRIVER_ERRORS(GPUPROF_DRIVER_ERROR)};

int attribute_of(const cudaFuncAttributes &known, CUfunction_attribute attribute, bool *is_known)
{
    *is_known = true;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return known.maxThreadsPerBlock;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return (int)known.sharedSizeBytes;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return (int)known.constSizeBytes;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return (int)known.localSizeBytes;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return known.numRegs;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: return known.ptxVersion;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return known.binaryVersion;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return known.maxDynamicSharedSizeBytes;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return cudaSharedmemCarveoutDefault;
    }
    *is_known = false;
    return 0;
}

} // namespace

extern "C" {
CUresult cuInit(unsigned int flags) { return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int *version) { return as(cudaDriverGetVersion(version)); }
CUresult cuGetErrorName(CUresult error, const char **name)
{
    *name = nullptr;
    for (const Named &each : named)
        if (each.error == error)
            *name = each.name;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult error, const char **text)
{
    const char *name;
    const CUresult status = cuGetErrorName(error, &name);
    *text = status ? nullptr : cudaGetErrorString((cudaError_t)error);
    return status;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return ordinal ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int *n) { return as(cudaGetDeviceCount(n)); }
CUresult cuDeviceGetName(char *name, int nbytes, CUdevice device)
{
    cudaDeviceProp properties;
    const cudaError_t status = cudaGetDeviceProperties(&properties, device);
    if (!status)
        snprintf(name, nbytes, "%s", properties.name);
    return as(status);
}
CUresult cuDeviceTotalMem(size_t *nbytes, CUdevice device)
{
    cudaDeviceProp properties;
    const cudaError_t status = cudaGetDeviceProperties(&properties, device);
    *nbytes = status ? 0 : properties.totalGlobalMem;
    return as(status);
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    return as(cudaDeviceGetAttribute(value, (cudaDeviceAttr)attribute, device));
}
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    const cudaError_t status = cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
    return as(status ? status : cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device));
}
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) { return as(cudaDeviceCanAccessPeer(can, device, peer)); }

CUresult cuDevicePrimaryCtxRetain(CUcontext *found, CUdevice device)
{
    *found = &context;
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *is_active)
{
    *flags = 0;
    *is_active = 1;
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxRelease(device); }
CUresult cuCtxCreate(CUcontext *made, unsigned int, CUdevice device)
{
    current = &context;
    return cuDevicePrimaryCtxRetain(made, device);
}
CUresult cuCtxDestroy(CUcontext which)
{
    current = nullptr;
    return which ? as(cudaDeviceSynchronize()) : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuCtxSetCurrent(CUcontext which)
{
    current = which;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *found)
{
    *found = current;
    return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext which) { return cuCtxSetCurrent(which); }
CUresult cuCtxPopCurrent(CUcontext *found)
{
    if (found)
        *found = current;
    return current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize(void) { return as(cudaDeviceSynchronize()); }

CUresult cuModuleLoad(CUmodule *module, const char *file) { return load_file(module, file); }
CUresult cuModuleLoadData(CUmodule *module, const void *image) { return load(module, image); }
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int, CUjit_option *, void **) { return load(module, image); }
// Its code stays loaded, as a launch may still be under way.
CUresult cuModuleUnload(CUmodule module) { return module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; }
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) { return function_of(function, module, name); }
CUresult cuModuleGetGlobal(CUdeviceptr *p, size_t *nbytes, CUmodule module, const char *name)
{
    Variable variable = {};
    const cudaError_t status = module ? ask_variable(module->number, name, &variable) : cudaErrorInvalidValue;
    if (p)
        *p = variable.address;
    if (nbytes)
        *nbytes = variable.nbytes;
    return as(status);
}

CUresult cuMemGetInfo(size_t *free_nbytes, size_t *total_nbytes) { return as(cudaMemGetInfo(free_nbytes, total_nbytes)); }
CUresult cuMemAlloc(CUdeviceptr *p, size_t nbytes) { return nbytes ? as(cudaMalloc((void **)p, nbytes)) : CUDA_ERROR_INVALID_VALUE; }
CUresult cuMemAllocPitch(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned int)
{
    return as(cudaMallocPitch((void **)p, pitch, width, height));
}
CUresult cuMemAllocManaged(CUdeviceptr *p, size_t nbytes, unsigned int flags) { return as(cudaMallocManaged((void **)p, nbytes, flags)); }
CUresult cuMemAllocAsync(CUdeviceptr *p, size_t nbytes, CUstream stream) { return as(cudaMallocAsync((void **)p, nbytes, stream)); }
CUresult cuMemAllocHost(void **p, size_t nbytes) { return as(cudaMallocHost(p, nbytes)); }
CUresult cuMemHostAlloc(void **p, size_t nbytes, unsigned int flags) { return as(cudaHostAlloc(p, nbytes, flags)); }
CUresult cuMemHostGetDevicePointer(CUdeviceptr *device, void *host, unsigned int flags)
{
    return as(cudaHostGetDevicePointer((void **)device, host, flags));
}
CUresult cuMemHostRegister(void *p, size_t nbytes, unsigned int flags) { return as(cudaHostRegister(p, nbytes, flags)); }
CUresult cuMemHostUnregister(void *p) { return as(cudaHostUnregister(p)); }
CUresult cuMemFree(CUdeviceptr p) { return as(cudaFree(pointer(p))); }
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream stream) { return as(cudaFreeAsync(pointer(p), stream)); }
CUresult cuMemFreeHost(void *p) { return as(cudaFreeHost(p)); }

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr p)
{
    cudaPointerAttributes known;
    const cudaError_t status = cudaPointerGetAttributes(&known, pointer(p));
    if (status || !value || known.type == cudaMemoryTypeUnregistered)
        return status ? as(status) : CUDA_ERROR_INVALID_VALUE;
    const bool is_managed = known.type == cudaMemoryTypeManaged;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)value = &context; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(CUmemorytype *)value = known.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(void **)value = known.devicePointer; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: *(void **)value = known.hostPointer; return known.hostPointer ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(int *)value = is_managed; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)value = 0; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(int *)value = 1; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *(CUmemoryPool *)value = pool_of(pointer(p)); return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}
// It is zero for memory without an owner, like in CUDA.
CUresult cuPointerGetAttributes(unsigned int n, CUpointer_attribute *attributes, void **values, CUdeviceptr p)
{
    if (!n || !attributes || !values)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < n; ++i)
        if (cuPointerGetAttribute(values[i], attributes[i], p))
            memset(values[i], 0, nbytes_of(attributes[i]));
    return CUDA_SUCCESS;
}
CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *how) { return as(cudaMemPoolCreate(pool, (const cudaMemPoolProps *)how)); }
CUresult cuMemPoolDestroy(CUmemoryPool pool) { return as(cudaMemPoolDestroy(pool)); }
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    return as(cudaMemPoolSetAttribute(pool, (cudaMemPoolAttr)attribute, value));
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    return as(cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)attribute, value));
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t nbytes) { return as(cudaMemPoolTrimTo(pool, nbytes)); }
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t nbytes, CUmemoryPool pool, CUstream stream)
{
    return as(cudaMallocFromPoolAsync((void **)p, nbytes, pool, stream));
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) { return as(cudaDeviceGetDefaultMemPool(pool, device)); }

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t nbytes, CUstream stream)
{
    return as(result(copy(pointer(to), pointer(from), nbytes, cudaMemcpyDefault, stream)));
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t nbytes, CUstream stream)
{
    return as(result(copy(pointer(to), from, nbytes, cudaMemcpyHostToDevice, stream)));
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t nbytes, CUstream stream)
{
    return as(result(copy(to, pointer(from), nbytes, cudaMemcpyDeviceToHost, stream)));
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t nbytes, CUstream stream)
{
    return as(result(copy(pointer(to), pointer(from), nbytes, cudaMemcpyDeviceToDevice, stream)));
}
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t nbytes) { return cuMemcpyAsync(to, from, nbytes, 0); }
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t nbytes) { return cuMemcpyHtoDAsync(to, from, nbytes, 0); }
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t nbytes) { return cuMemcpyDtoHAsync(to, from, nbytes, 0); }
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t nbytes) { return cuMemcpyDtoDAsync(to, from, nbytes, 0); }
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, size_t n, CUstream stream) { return fill_words(p, value, 1, n, stream); }
CUresult cuMemsetD16Async(CUdeviceptr p, unsigned short value, size_t n, CUstream stream) { return fill_words(p, value, 2, n, stream); }
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned int value, size_t n, CUstream stream) { return fill_words(p, value, 4, n, stream); }
CUresult cuMemsetD8(CUdeviceptr p, unsigned char value, size_t n) { return fill_words(p, value, 1, n, 0); }
CUresult cuMemsetD16(CUdeviceptr p, unsigned short value, size_t n) { return fill_words(p, value, 2, n, 0); }
CUresult cuMemsetD32(CUdeviceptr p, unsigned int value, size_t n) { return fill_words(p, value, 4, n, 0); }

CUresult cuStreamCreate(CUstream *stream, unsigned int flags) { return as(cudaStreamCreateWithFlags(stream, flags)); }
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    return as(cudaStreamCreateWithPriority(stream, flags, priority));
}
CUresult cuStreamDestroy(CUstream stream) { return as(cudaStreamDestroy(stream)); }
CUresult cuStreamSynchronize(CUstream stream) { return as(cudaStreamSynchronize(stream)); }
CUresult cuStreamQuery(CUstream stream) { return as(cudaStreamQuery(stream)); }
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) { return as(cudaStreamWaitEvent(stream, event, flags)); }
CUresult cuStreamGetPriority(CUstream stream, int *priority) { return as(cudaStreamGetPriority(stream, priority)); }
CUresult cuStreamGetId(CUstream stream, unsigned long long *number) { return as(cudaStreamGetId(stream, number)); }
CUresult cuStreamGetCtx(CUstream, CUcontext *found)
{
    *found = &context;
    return CUDA_SUCCESS;
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void *data, unsigned int flags)
{
    return as(cudaStreamAddCallback(stream, (cudaStreamCallback_t)function, data, flags));
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) { return as(cudaLaunchHostFunc(stream, function, data)); }
CUresult cuEventCreate(CUevent *event, unsigned int flags) { return as(cudaEventCreateWithFlags(event, flags)); }
CUresult cuEventDestroy(CUevent event) { return as(cudaEventDestroy(event)); }
CUresult cuEventRecord(CUevent event, CUstream stream) { return as(cudaEventRecord(event, stream)); }
CUresult cuEventSynchronize(CUevent event) { return as(cudaEventSynchronize(event)); }
CUresult cuEventQuery(CUevent event) { return as(cudaEventQuery(event)); }
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) { return as(cudaEventElapsedTime(milliseconds, start, end)); }

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    bool is_known = false;
    if (function)
        *value = attribute_of(function->kernel.attributes, attribute, &is_known);
    return is_known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        return attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    return as(result(ask(Call::shared_limit, function->kernel.function, (long long)value).status));
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) { return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_threads, size_t shared_nbytes)
{
    if (!function)
        return CUDA_ERROR_INVALID_VALUE;
    const Reply reply = ask(Call::occupancy, function->kernel.function, (long long)block_threads, shared_nbytes);
    *blocks = (int)reply.words[occupancy_gives::blocks];
    return as(result(reply.status));
}
CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                        unsigned int block_y, unsigned int block_z, unsigned int shared_nbytes, CUstream stream, void **arguments, void **extra)
{
    return launch(function, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared_nbytes, stream, arguments, extra, 0);
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                                   unsigned int block_y, unsigned int block_z, unsigned int shared_nbytes, CUstream stream, void **arguments)
{
    return launch(function, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared_nbytes, stream, arguments, nullptr, is_cooperative);
}
CUresult cuProfilerStart(void) { return as(cudaProfilerStart()); }
CUresult cuProfilerStop(void) { return as(cudaProfilerStop()); }
}
