// Virtual memory management: addresses that are reserved, physical memory, and which of it is mapped where.
#include "arena.h"
#include "copies.h"
#include "driver_calls.h"
#include "list.h"

using namespace gpuprof;

namespace {

constexpr size_t granularity = 2 << 20;

struct Reserved {
    char *start;
    size_t nbytes;
};
// Physical memory has its place where it is mapped; between two mappings its bytes are kept here.
struct Physical {
    unsigned long long handle;
    CUmemAllocationProp properties;
    size_t nbytes;
    unsigned n_uses; // handles that the program holds, and its mapping
    char *kept;
    bool is_mapped;
};
struct Mapping {
    char *start;
    size_t nbytes;
    Physical *physical;
    bool is_open; // to the device, as cuMemSetAccess says
};
List<Reserved> reserved;
List<Physical *> physical;
List<Mapping> mappings; // all are looked at in a Turn
unsigned long long n_handles = 0;

bool is_whole(size_t nbytes) { return nbytes && nbytes % granularity == 0; }

bool is_device_place(const CUmemLocation &location) { return location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == 0; }

CUresult check(const CUmemAllocationProp *properties)
{
    if (!properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_NOT_SUPPORTED; // as the device's attributes say: no other process can have it
    return is_device_place(properties->location) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

Physical *find(unsigned long long handle)
{
    for (Physical *each : physical)
        if (each->handle == handle)
            return each;
    return nullptr;
}

// The end of the physical memory comes when neither a handle nor a mapping uses it.
void let_go(Physical *one)
{
    if (--one->n_uses)
        return;
    for (size_t i = 0; i < physical.n; ++i)
        if (physical[i] == one)
            physical.drop(i);
    free(one->kept);
    free(one);
}

size_t unmapped_nbytes()
{
    size_t nbytes = 0;
    for (const Physical *each : physical)
        nbytes += each->is_mapped ? 0 : each->nbytes;
    return nbytes;
}

CUresult create(CUmemGenericAllocationHandle *handle, size_t nbytes, const CUmemAllocationProp *properties)
{
    if (const CUresult error = check(properties))
        return error;
    if (!handle || !is_whole(nbytes))
        return CUDA_ERROR_INVALID_VALUE;
    Turn turn;
    const Reply known = ask(Call::memory);
    if (known.words[memory_gives::free_nbytes] < nbytes + unmapped_nbytes())
        return known.status ? as(known.status) : CUDA_ERROR_OUT_OF_MEMORY;
    Physical *made = (Physical *)calloc(1, sizeof *made);
    *made = {++n_handles, *properties, nbytes, 1, nullptr, false};
    physical.add(made);
    *handle = made->handle;
    return CUDA_SUCCESS;
}

bool is_within(const Reserved &range, const char *start, size_t nbytes)
{
    return start >= range.start && nbytes <= range.nbytes && start <= range.start + range.nbytes - nbytes;
}

bool is_free(const char *start, size_t nbytes)
{
    bool is_reserved = false;
    for (const Reserved &each : reserved)
        is_reserved = is_reserved || is_within(each, start, nbytes);
    for (const Mapping &each : mappings)
        if (start < each.start + each.nbytes && each.start < start + nbytes)
            return false;
    return is_reserved;
}

CUresult map(char *start, size_t nbytes, Physical *one)
{
    if (!is_whole(nbytes) || nbytes != one->nbytes || (size_t)start % granularity || !is_free(start, nbytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (one->is_mapped) {
        ask_with(text("cuMemMap at two addresses of one allocation"), nullptr, Call::refuse);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    mappings.add({start, nbytes, one, false});
    one->is_mapped = true;
    ++one->n_uses;
    return CUDA_SUCCESS;
}

CUresult open(Mapping *one)
{
    if (one->is_open)
        return CUDA_SUCCESS;
    CUresult error = as(ask(Call::map, one->start, one->nbytes).status);
    if (!error && one->physical->kept)
        error = as(copy(one->start, one->physical->kept, one->nbytes, cudaMemcpyHostToDevice, 0));
    if (error)
        return error;
    free(one->physical->kept);
    one->physical->kept = nullptr;
    one->is_open = true;
    add_mapped(one->start, one->nbytes);
    return CUDA_SUCCESS;
}

// What only the mapping uses is not wanted any more.
CUresult close(Mapping *one, bool is_kept)
{
    if (!one->is_open)
        return CUDA_SUCCESS;
    CUresult error = CUDA_SUCCESS;
    if (is_kept) {
        one->physical->kept = (char *)malloc(one->nbytes);
        error = as(copy(one->physical->kept, one->start, one->nbytes, cudaMemcpyDeviceToHost, 0));
    }
    error = error ? error : as(ask(Call::unmap, one->start, one->nbytes).status);
    if (!error) {
        one->is_open = false;
        drop_mapped(one->start);
    }
    return error;
}

// `how` is done with each mapping of a range, which they must fill without a gap.
template <typename How> CUresult for_range(char *start, size_t nbytes, How how)
{
    size_t covered = 0;
    for (const Mapping &each : mappings)
        if (each.start >= start && each.start + each.nbytes <= start + nbytes)
            covered += each.nbytes;
    if (!nbytes || covered != nbytes)
        return CUDA_ERROR_INVALID_VALUE;
    OneCall whole;
    CUresult error = CUDA_SUCCESS;
    for (size_t i = mappings.n; i-- > 0 && !error;)
        if (mappings[i].start >= start && mappings[i].start + mappings[i].nbytes <= start + nbytes)
            error = how(i);
    return error;
}

CUresult unmap(char *start, size_t nbytes)
{
    return for_range(start, nbytes, [](size_t i) {
        Physical *one = mappings[i].physical;
        const CUresult error = close(&mappings[i], one->n_uses > 1);
        if (error)
            return error;
        one->is_mapped = false;
        mappings.drop(i);
        let_go(one);
        return CUDA_SUCCESS;
    });
}

CUresult set_access(char *start, size_t nbytes, const CUmemAccessDesc *accesses, size_t n)
{
    CUresult error = result_of(accesses && n);
    for (size_t i = 0; i < n && !error; ++i) {
        const CUmemAccess_flags flags = accesses[i].flags;
        if (!is_device_place(accesses[i].location))
            return CUDA_ERROR_INVALID_DEVICE;
        if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ && flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_VALUE;
        const bool is_open = flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
        error = for_range(start, nbytes, [=](size_t k) { return is_open ? open(&mappings[k]) : close(&mappings[k], true); });
    }
    return error;
}

const Mapping *mapping_at(const void *address)
{
    for (const Mapping &each : mappings)
        if ((char *)address >= each.start && (char *)address < each.start + each.nbytes)
            return &each;
    return nullptr;
}

} // namespace

extern "C" {
CUresult cuMemGetAllocationGranularity(size_t *nbytes, const CUmemAllocationProp *properties, CUmemAllocationGranularity_flags option)
{
    return driver_call([=] {
        const CUresult error = check(properties);
        if (error || !nbytes || (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
            return error ? error : CUDA_ERROR_INVALID_VALUE;
        *nbytes = granularity;
        return CUDA_SUCCESS;
    });
}
CUresult cuMemAddressReserve(CUdeviceptr *p, size_t nbytes, size_t alignment, CUdeviceptr, unsigned long long flags)
{
    return driver_call([=] {
        if (!p || !is_whole(nbytes) || alignment & (alignment - 1) || flags)
            return CUDA_ERROR_INVALID_VALUE;
        Turn turn;
        const Reply reply = ask(Call::reserve, nbytes, alignment);
        if (!reply.status) {
            *p = reply.words[reserve_gives::address];
            reserved.add({(char *)*p, nbytes});
        }
        return as(reply.status);
    });
}
CUresult cuMemAddressFree(CUdeviceptr p, size_t nbytes)
{
    return driver_call([=] {
        Turn turn;
        for (size_t i = 0; i < reserved.n; ++i)
            if (reserved[i].start == pointer(p) && reserved[i].nbytes == nbytes && is_free(reserved[i].start, nbytes)) {
                reserved.drop(i);
                return as(ask(Call::unreserve, p).status);
            }
        return CUDA_ERROR_INVALID_VALUE;
    });
}
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t nbytes, const CUmemAllocationProp *properties, unsigned long long flags)
{
    return driver_call([=] { return flags ? CUDA_ERROR_INVALID_VALUE : create(handle, nbytes, properties); });
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    return driver_call([=] {
        Turn turn;
        Physical *one = find(handle);
        const unsigned held = one ? one->n_uses - one->is_mapped : 0;
        if (held)
            let_go(one);
        return result_of(held);
    });
}
CUresult cuMemMap(CUdeviceptr p, size_t nbytes, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    return driver_call([=] {
        Turn turn;
        Physical *one = find(handle);
        return one && !offset && !flags ? map((char *)p, nbytes, one) : CUDA_ERROR_INVALID_VALUE;
    });
}
CUresult cuMemUnmap(CUdeviceptr p, size_t nbytes)
{
    return driver_call([=] {
        Turn turn;
        return unmap((char *)p, nbytes);
    });
}
CUresult cuMemSetAccess(CUdeviceptr p, size_t nbytes, const CUmemAccessDesc *desc, size_t n)
{
    return driver_call([=] {
        Turn turn;
        return set_access((char *)p, nbytes, desc, n);
    });
}
CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr p)
{
    return driver_call([=] {
        Turn turn;
        const Mapping *found = mapping_at(pointer(p));
        if (!flags || !location || !found || !is_device_place(*location))
            return CUDA_ERROR_INVALID_VALUE;
        *flags = found->is_open ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
        return CUDA_SUCCESS;
    });
}
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties, CUmemGenericAllocationHandle handle)
{
    return driver_call([=] {
        Turn turn;
        const Physical *one = find(handle);
        if (properties && one)
            *properties = one->properties;
        return result_of(properties && one);
    });
}
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *p)
{
    return driver_call([=] {
        Turn turn;
        const Mapping *found = mapping_at(p);
        if (!handle || !found)
            return CUDA_ERROR_INVALID_VALUE;
        ++found->physical->n_uses;
        *handle = found->physical->handle;
        return CUDA_SUCCESS;
    });
}
}
