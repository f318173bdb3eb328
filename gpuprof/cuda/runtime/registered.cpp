// cudaHostRegister. The pages of the program's memory become a second view of an allocation.
#include "registered.h"
#include "arena.h"
#include "list.h"

#include <sys/mman.h>

using namespace gpuprof;

namespace {

struct Registered {
    char *start; // as the program gave it
    size_t nbytes;
    char *first_page;
    size_t pages_nbytes;
    char *device;
};
List<Registered> all;

constexpr size_t page = 4096;

bool meets(const Registered &one, const char *first, size_t nbytes)
{
    return first < one.first_page + one.pages_nbytes && one.first_page < first + nbytes;
}

cudaError_t map(char *start, size_t nbytes)
{
    char *first = start - (size_t)start % page;
    const size_t pages_nbytes = (start + nbytes - first + page - 1) / page * page;
    if (is_device(start))
        return cudaErrorHostMemoryAlreadyRegistered;
    Turn turn;
    for (const Registered &one : all)
        if (meets(one, first, pages_nbytes))
            return cudaErrorHostMemoryAlreadyRegistered;
    char *device;
    if (const cudaError_t status = allocate((void **)&device, pages_nbytes, pinned_memory, "cudaHostRegister"))
        return status;
    memcpy(device, first, pages_nbytes);
    // A length of 0 makes a second mapping of shared pages (mremap(2)).
    if (mremap(device, 0, pages_nbytes, MREMAP_MAYMOVE | MREMAP_FIXED, first) == MAP_FAILED) {
        release(device);
        return cudaErrorInvalidValue;
    }
    all.add({start, nbytes, first, pages_nbytes, device});
    return cudaSuccess;
}

// The pages are the program's own again, with what is in them.
cudaError_t unmap(const char *start)
{
    Turn turn;
    for (size_t i = 0; i < all.n; ++i) {
        const Registered one = all[i];
        if (one.start != start)
            continue;
        void *own = mmap(nullptr, one.pages_nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (own == MAP_FAILED)
            return cudaErrorMemoryAllocation;
        memcpy(own, one.device, one.pages_nbytes);
        // In one step: the pages may hold what calls of other libraries go through.
        if (mremap(own, one.pages_nbytes, one.pages_nbytes, MREMAP_MAYMOVE | MREMAP_FIXED, one.first_page) == MAP_FAILED)
            return cudaErrorMemoryAllocation;
        all.drop(i);
        return release(one.device);
    }
    return cudaErrorHostMemoryNotRegistered;
}

} // namespace

void *gpuprof::device_address(const void *host) { return device_address(host, 1); }

void *gpuprof::device_address(const void *host, size_t nbytes)
{
    Turn turn;
    for (const Registered &one : all)
        if ((char *)host >= one.start && (char *)host < one.start + one.nbytes && nbytes <= (size_t)(one.start + one.nbytes - (char *)host))
            return one.device + ((char *)host - one.first_page);
    return nullptr;
}

void gpuprof::to_device_address(void **p)
{
    if (void *device = device_address(*p))
        *p = device;
}

extern "C" {
cudaError_t cudaHostRegister(void *p, size_t nbytes, unsigned int) { return result(p && nbytes ? map((char *)p, nbytes) : cudaErrorInvalidValue); }
cudaError_t cudaHostUnregister(void *p) { return result(unmap((char *)p)); }
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int)
{
    *device = is_device(host) ? host : device_address(host);
    return result_if(*device);
}
cudaError_t cudaHostGetFlags(unsigned int *flags, void *host)
{
    *flags = cudaHostAllocMapped;
    return result_if(is_device(host) || device_address(host));
}
}
