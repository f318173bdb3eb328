// Allocations, copies and fills.
#include "arena.h"
#include "captures.h"
#include "copies.h"
#include "modules.h"
#include "registered.h"

using namespace gpuprof;

namespace {

cudaError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                      cudaStream_t stream)
{
    return copy_box({(char *)to, to_pitch, 0}, {(char *)from, from_pitch, 0}, {width, height, 1}, kind, stream);
}

cudaError_t part_of(const void *symbol, size_t nbytes, size_t offset, char **address)
{
    Variable variable = {};
    const cudaError_t status = variable_of(symbol, &variable);
    if (!status && (offset > variable.nbytes || nbytes > variable.nbytes - offset))
        return cudaErrorInvalidValue;
    *address = (char *)variable.address + offset;
    return status;
}

// The host looks the symbol up at each call, unless a graph has the copy.
cudaError_t copy_symbol(void *to, const void *from, size_t nbytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    Graph *graph;
    const cudaError_t status = enter(stream, &graph);
    if (status || graph)
        return status ? status : copy(to, from, nbytes, kind, stream);
    OneCall whole;
    ask(Call::symbol_copy);
    return copy(to, from, nbytes, kind, stream);
}

constexpr size_t pitch_nbytes = 512; // cudaDeviceProp.texturePitchAlignment's rows of cudaMallocPitch on the cards of today

} // namespace

extern "C" {
cudaError_t cudaMalloc(void **p, size_t nbytes) { return result(allocate(p, nbytes, device_memory, "cudaMalloc")); }
cudaError_t cudaMallocManaged(void **p, size_t nbytes, unsigned int flags)
{
    if (!nbytes || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return result(cudaErrorInvalidValue);
    return result(allocate(p, nbytes, managed_memory, "cudaMallocManaged"));
}
cudaError_t cudaMallocHost(void **p, size_t nbytes) { return result(allocate(p, nbytes, pinned_memory, "cudaMallocHost")); }
cudaError_t cudaHostAlloc(void **p, size_t nbytes, unsigned int flags)
{
    const bool is_known = !(flags & ~(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined));
    return result(is_known ? allocate(p, nbytes, pinned_memory, "cudaHostAlloc") : cudaErrorInvalidValue);
}
cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    *pitch = (width + pitch_nbytes - 1) / pitch_nbytes * pitch_nbytes;
    return result(allocate(p, *pitch * height, device_memory, "cudaMallocPitch"));
}
cudaError_t cudaFreeHost(void *p) { return result(release_pinned(p)); }

cudaError_t cudaMemcpy(void *to, const void *from, size_t nbytes, cudaMemcpyKind kind)
{
    return result(and_wait([=] { return copy(to, from, nbytes, kind, 0); }));
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t nbytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    return result(copy(to, from, nbytes, kind, stream));
}
cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, size_t nbytes)
{
    return result(and_wait([=] { return copy(to, from, nbytes, cudaMemcpyDeviceToDevice, 0); }));
}
cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t nbytes, cudaStream_t stream)
{
    return result(copy(to, from, nbytes, cudaMemcpyDeviceToDevice, stream));
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind)
{
    return result(and_wait([=] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, 0); }));
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    return result(copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream));
}
cudaError_t cudaMemset(void *p, int value, size_t nbytes) { return result(fill(p, value, nbytes, 0)); }
cudaError_t cudaMemsetAsync(void *p, int value, size_t nbytes, cudaStream_t stream) { return result(fill(p, value, nbytes, stream)); }
cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
    return result(fill_box({(char *)p, pitch, 0}, value, {width, height, 1}, 0));
}
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return result(fill_box({(char *)p, pitch, 0}, value, {width, height, 1}, stream));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t nbytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    char *address;
    const cudaError_t status = part_of(symbol, nbytes, offset, &address);
    return result(status ? status : copy_symbol(address, from, nbytes, kind, stream));
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t nbytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream)
{
    char *address;
    const cudaError_t status = part_of(symbol, nbytes, offset, &address);
    return result(status ? status : copy_symbol(to, address, nbytes, kind, stream));
}
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t nbytes, size_t offset, cudaMemcpyKind kind)
{
    return result(and_wait([=] { return cudaMemcpyToSymbolAsync(symbol, from, nbytes, offset, kind, 0); }));
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t nbytes, size_t offset, cudaMemcpyKind kind)
{
    return result(and_wait([=] { return cudaMemcpyFromSymbolAsync(to, symbol, nbytes, offset, kind, 0); }));
}
cudaError_t cudaGetSymbolAddress(void **p, const void *symbol)
{
    char *address;
    const cudaError_t status = part_of(symbol, 0, 0, &address);
    *p = status ? nullptr : address;
    return result(status);
}
cudaError_t cudaGetSymbolSize(size_t *nbytes, const void *symbol)
{
    Variable variable = {};
    const cudaError_t status = variable_of(symbol, &variable);
    *nbytes = variable.nbytes;
    return result(status);
}

cudaError_t cudaMemGetInfo(size_t *free_nbytes, size_t *total_nbytes)
{
    const Reply reply = ask(Call::memory);
    *free_nbytes = reply.words[memory_gives::free_nbytes];
    *total_nbytes = reply.words[memory_gives::total_nbytes];
    return result(reply.status);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *found, const void *p)
{
    if (void *device = device_address(p)) {
        *found = {cudaMemoryTypeHost, 0, device, (void *)p};
        return result(cudaSuccess);
    }
    const void *start;
    const Kind kind = kind_of(p, &start);
    static const cudaMemoryType types[] = {cudaMemoryTypeDevice, cudaMemoryTypeManaged, cudaMemoryTypeHost};
    *found = {start ? types[kind] : cudaMemoryTypeUnregistered, 0, start ? (void *)p : nullptr, start && kind == device_memory ? nullptr : (void *)p};
    return result(cudaSuccess);
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *p, size_t, unsigned int)
{
    const cudaError_t status = check_supported(stream);
    return status ? result(status) : result_if(is_device(p));
}
}
