// Allocations of the driver, and what is known of a pointer.
#include "arena.h"
#include "contexts.h"
#include "list.h"
#include "pools.h"
#include "registered.h"

#include <string.h>

using namespace gpuprof;

namespace {

// What an address lies in, whoever has made it.
struct Known {
    Range range;
    char *device; // the address there
    char *host;   // null where the host cannot read it
};

bool find(CUdeviceptr p, Known *known)
{
    char *address = (char *)p;
    if (char *device = (char *)device_address(address)) {
        *known = {{}, device, address};
        return allocation_of(device, &known->range);
    }
    if (!allocation_of(address, &known->range))
        return false;
    known->device = address;
    known->host = known->range.kind == device_memory ? nullptr : address;
    return true;
}

CUmemorytype type_of(const Known &known) { return known.range.kind == pinned_memory ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE; }

struct Answer {
    size_t nbytes; // 0: the attribute is not known
    unsigned long long value;
};

// A pointer to nothing that the device knows has the answers of zero.
Answer answer(CUpointer_attribute attribute, const Known *known)
{
    const Range range = known ? known->range : Range{};
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return {8, (unsigned long long)range.context};
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return {4, known ? (unsigned)type_of(*known) : 0u};
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return {8, known ? (unsigned long long)known->device : 0};
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: return {8, known ? (unsigned long long)known->host : 0};
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return {4, 0};
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return {8, range.number};
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return {4, known && range.kind == managed_memory};
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return {4, 0};
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: return {4, 0};
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return {8, (unsigned long long)range.start};
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return {8, range.nbytes};
    case CU_POINTER_ATTRIBUTE_MAPPED: return {4, known != nullptr};
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return {8, 0};
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return {4, 0};
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return {4, known ? 3u : 0u}; // read and write
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return {8, (unsigned long long)pool_of(range.start)};
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return {8, range.nbytes};
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return {8, (unsigned long long)range.start};
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return {8, range.number};
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return {4, 0};
    default: return {0, 0};
    }
}

CUresult attribute_of(CUpointer_attribute attribute, CUdeviceptr p, void *value)
{
    Known known;
    if (!value || !find(p, &known))
        return CUDA_ERROR_INVALID_VALUE;
    const Answer found = answer(attribute, &known);
    if (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER && !found.value)
        return CUDA_ERROR_INVALID_VALUE; // device memory has none
    memcpy(value, &found.value, found.nbytes);
    return result_of(found.nbytes);
}

CUresult attributes_of(unsigned n, const CUpointer_attribute *attributes, void **values, CUdeviceptr p)
{
    if (!n || !attributes || !values)
        return CUDA_ERROR_INVALID_VALUE;
    Known known;
    const Known *found = find(p, &known) ? &known : nullptr;
    for (unsigned i = 0; i < n; ++i) {
        const Answer one = answer(attributes[i], found);
        if (!one.nbytes)
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(values[i], &one.value, one.nbytes);
    }
    return CUDA_SUCCESS;
}

// The runtime's locations have the same layout.
cudaMemLocation place_of(const CUmemLocation &location) { return {(cudaMemLocationType)location.type, location.id}; }

// The free functions of the driver take what their own kind of call has made.
CUresult free_of_kind(void *p, bool is_host)
{
    Range range;
    if (!allocation_of(p, &range) || range.start != p)
        return as(cudaFree(p)); // which reports what was freed before
    if ((range.kind == pinned_memory) != is_host)
        return CUDA_ERROR_INVALID_VALUE;
    return as(is_host ? cudaFreeHost(p) : cudaFree(p));
}

bool is_flags(unsigned flags, unsigned most) { return !(flags & ~most); }

} // namespace

extern "C" {
CUresult cuMemGetInfo(size_t *free_nbytes, size_t *total_nbytes)
{
    return driver_call([=] { return free_nbytes && total_nbytes ? as(cudaMemGetInfo(free_nbytes, total_nbytes)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMemAlloc(CUdeviceptr *p, size_t nbytes)
{
    return driver_call([=] { return p && nbytes ? as(cudaMalloc((void **)p, nbytes)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMemAllocPitch(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned int element_nbytes)
{
    const bool is_element = element_nbytes == 4 || element_nbytes == 8 || element_nbytes == 16;
    return driver_call([=] {
        return p && pitch && width && height && is_element ? as(cudaMallocPitch((void **)p, pitch, width, height)) : CUDA_ERROR_INVALID_VALUE;
    });
}
CUresult cuMemAllocManaged(CUdeviceptr *p, size_t nbytes, unsigned int flags)
{
    const bool is_attached = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST;
    return driver_call([=] { return p && nbytes && is_attached ? as(cudaMallocManaged((void **)p, nbytes, flags)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMemAllocAsync(CUdeviceptr *p, size_t nbytes, CUstream stream)
{
    return driver_call([=] { return p && nbytes ? as(cudaMallocAsync((void **)p, nbytes, stream)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMemAllocHost(void **p, size_t nbytes)
{
    return driver_call([=] { return p && nbytes ? as(cudaMallocHost(p, nbytes)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMemHostAlloc(void **p, size_t nbytes, unsigned int flags)
{
    return driver_call([=] { return p && nbytes && is_flags(flags, 7) ? as(cudaHostAlloc(p, nbytes, flags)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr *p, void *host, unsigned int flags)
{
    return driver_call([=] { return p && !flags ? as(cudaHostGetDevicePointer((void **)p, host, 0)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMemHostGetFlags(unsigned int *flags, void *host)
{
    return driver_call([=] { return flags ? as(cudaHostGetFlags(flags, host)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMemHostRegister(void *p, size_t nbytes, unsigned int flags)
{
    return driver_call([=] { return is_flags(flags, 15) ? as(cudaHostRegister(p, nbytes, flags)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMemHostUnregister(void *p)
{
    return driver_call([=] { return p ? as(cudaHostUnregister(p)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMemFree(CUdeviceptr p)
{
    return driver_call([=] { return p ? free_of_kind(pointer(p), false) : CUDA_SUCCESS; });
}
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream stream)
{
    return driver_call([=] { return p ? as(cudaFreeAsync(pointer(p), stream)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMemFreeHost(void *p)
{
    return driver_call([=] { return p ? free_of_kind(p, true) : CUDA_SUCCESS; });
}
CUresult cuMemGetAddressRange(CUdeviceptr *start, size_t *nbytes, CUdeviceptr p)
{
    return driver_call([=] {
        Known known;
        if (!find(p, &known))
            return CUDA_ERROR_NOT_FOUND;
        if (start)
            *start = (CUdeviceptr)known.range.start;
        if (nbytes)
            *nbytes = known.range.nbytes;
        return CUDA_SUCCESS;
    });
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr p)
{
    return driver_call([=] { return attribute_of(attribute, p, value); });
}
CUresult cuPointerGetAttributes(unsigned int n, CUpointer_attribute *attributes, void **values, CUdeviceptr p)
{
    return driver_call([=] { return attributes_of(n, attributes, values, p); });
}
// Copies are synchronous in any case.
CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr p)
{
    return driver_call([=] {
        Known known;
        return result_of(value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && find(p, &known));
    });
}
CUresult cuMemAdvise(CUdeviceptr p, size_t nbytes, CUmem_advise advice, CUmemLocation location)
{
    return driver_call([=] { return cudaMemAdvise_v2(pointer(p), nbytes, (cudaMemoryAdvise)advice, place_of(location)); });
}
CUresult cuMemAdvise_v1(CUdeviceptr p, size_t nbytes, CUmem_advise advice, CUdevice device)
{
    return driver_call([=] { return cudaMemAdvise(pointer(p), nbytes, (cudaMemoryAdvise)advice, device); });
}
CUresult cuMemPrefetchAsync(CUdeviceptr p, size_t nbytes, CUmemLocation location, unsigned int flags, CUstream stream)
{
    return driver_call([=] { return cudaMemPrefetchAsync_v2(pointer(p), nbytes, place_of(location), flags, stream); });
}
CUresult cuMemPrefetchAsync_v1(CUdeviceptr p, size_t nbytes, CUdevice device, CUstream stream)
{
    return driver_call([=] { return cudaMemPrefetchAsync(pointer(p), nbytes, device, stream); });
}
CUresult cuMemRangeGetAttribute(void *to, size_t to_nbytes, CUmem_range_attribute attribute, CUdeviceptr p, size_t nbytes)
{
    return driver_call([=] { return cudaMemRangeGetAttribute(to, to_nbytes, (cudaMemRangeAttribute)attribute, pointer(p), nbytes); });
}
CUresult cuMemRangeGetAttributes(void **to, size_t *to_nbytes, CUmem_range_attribute *attributes, size_t n, CUdeviceptr p, size_t nbytes)
{
    return driver_call([=] { return cudaMemRangeGetAttributes(to, to_nbytes, (cudaMemRangeAttribute *)attributes, n, pointer(p), nbytes); });
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *how)
{
    return driver_call([=] { return cudaMemPoolCreate(pool, (const cudaMemPoolProps *)how); });
}
CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    return driver_call([=] { return cudaMemPoolDestroy(pool); });
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    return driver_call([=] { return cudaMemPoolSetAttribute(pool, (cudaMemPoolAttr)attribute, value); });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    return driver_call([=] { return cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)attribute, value); });
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t nbytes)
{
    return driver_call([=] { return cudaMemPoolTrimTo(pool, nbytes); });
}
// The device has access to all pools, which cannot be taken away.
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *accesses, size_t n)
{
    return driver_call([=] {
        if (!pool || (n && !accesses))
            return CUDA_ERROR_INVALID_VALUE;
        for (size_t i = 0; i < n; ++i)
            if (accesses[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || accesses[i].location.id ||
                accesses[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
                return accesses[i].location.id ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
        return CUDA_SUCCESS;
    });
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)
{
    return driver_call([=] {
        if (!flags || !pool || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE || location->id)
            return CUDA_ERROR_INVALID_VALUE;
        *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return CUDA_SUCCESS;
    });
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t nbytes, CUmemoryPool pool, CUstream stream)
{
    return driver_call([=] { return p && nbytes ? as(cudaMallocFromPoolAsync((void **)p, nbytes, pool, stream)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    return driver_call<Needs::cu_init>([=] { return pool ? as(cudaDeviceGetDefaultMemPool(pool, device)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    return driver_call<Needs::cu_init>([=] { return pool ? as(cudaDeviceGetMemPool(pool, device)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    return driver_call<Needs::cu_init>([=] { return pool ? as(cudaDeviceSetMemPool(device, pool)) : CUDA_ERROR_INVALID_VALUE; });
}
}
