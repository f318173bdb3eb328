// Memory in the order of streams, and its pools. A pool here owns no memory: it counts what was taken from it.
#include "arena.h"
#include "captures.h"
#include "pools.h"
#include "streams.h"

using namespace gpuprof;

struct CUmemPoolHandle_st {
    unsigned long long threshold_nbytes, used_nbytes, most_nbytes;
    int reuse[3]; // cudaMemPoolReuse*: whether freed memory is used again, which happens here in any case
};

namespace {

typedef CUmemPoolHandle_st Pool;

struct Taken {
    void *p;
    size_t nbytes;
    Pool *pool;
};
List<Taken> all;
Pool first = {0, 0, 0, {1, 1, 1}}; // the device's own
Pool *current = &first;

cudaError_t take(void **p, size_t nbytes, Pool *pool, cudaStream_t stream)
{
    if (!p || !pool)
        return cudaErrorInvalidValue;
    if (!is_stream(stream))
        return cudaErrorInvalidResourceHandle;
    Turn turn;
    Graph *graph; // which has the memory at once, and keeps it
    cudaError_t status = enter(stream, &graph);
    status = status ? status : allocate_in_order(p, nbytes, "cudaMallocAsync");
    if (status || !*p)
        return status;
    all.add({*p, nbytes, pool});
    pool->used_nbytes += nbytes;
    if (pool->used_nbytes > pool->most_nbytes)
        pool->most_nbytes = pool->used_nbytes;
    return cudaSuccess;
}

// To its pool, if it has one.
void give_back(void *p)
{
    for (size_t i = 0; i < all.n; ++i)
        if (all[i].p == p) {
            all[i].pool->used_nbytes -= all[i].nbytes;
            all.drop(i);
            return;
        }
}

cudaError_t free_in_order(void *p, cudaStream_t stream)
{
    if (!is_stream(stream))
        return cudaErrorInvalidResourceHandle;
    Turn turn;
    Graph *graph;
    cudaError_t status = enter(stream, &graph);
    if (!status && graph) // what it has taken in the capture stays until the program ends: each launch uses it again
        return cudaSuccess;
    status = status ? status : release_later(p, stream);
    if (!status)
        give_back(p);
    return status;
}

unsigned long long *word_of(Pool *pool, cudaMemPoolAttr attribute)
{
    switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold: return &pool->threshold_nbytes;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: return &pool->used_nbytes;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: return &pool->most_nbytes;
    default: return nullptr;
    }
}

bool is_own(const cudaMemLocation &location) { return location.type == cudaMemLocationTypeDevice && !location.id; }

// Pools of the host, and of managed memory, are not there.
cudaError_t check(const cudaMemLocation *location, cudaMemAllocationType type)
{
    if (!location || (location->type == cudaMemLocationTypeDevice && location->id))
        return location ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    return is_own(*location) && type == cudaMemAllocationTypePinned ? cudaSuccess : not_supported("a pool of memory that is not the device's");
}

int *flag_of(Pool *pool, cudaMemPoolAttr attribute)
{
    const int which = attribute - cudaMemPoolReuseFollowEventDependencies;
    return which >= 0 && which < 3 ? &pool->reuse[which] : nullptr;
}

} // namespace

cudaMemPool_t gpuprof::pool_of(const void *p)
{
    Turn turn;
    for (const Taken &each : all)
        if (each.p == p)
            return each.pool;
    return nullptr;
}

extern "C" {
cudaError_t cudaMallocAsync(void **p, size_t nbytes, cudaStream_t stream) { return result(take(p, nbytes, current, stream)); }
cudaError_t cudaMallocFromPoolAsync(void **p, size_t nbytes, cudaMemPool_t pool, cudaStream_t stream)
{
    return result(take(p, nbytes, pool, stream));
}
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream) { return result(free_in_order(p, stream)); }
// Also of what a pool gave.
cudaError_t cudaFree(void *p)
{
    Turn turn;
    const cudaError_t status = release_device(p);
    if (!status)
        give_back(p);
    return result(status);
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    *pool = &first;
    return result(device ? cudaErrorInvalidDevice : cudaSuccess);
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    *pool = current;
    return result(device ? cudaErrorInvalidDevice : cudaSuccess);
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    if (device || !pool)
        return result(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    current = pool;
    return result(cudaSuccess);
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *)
{
    *pool = (Pool *)malloc(sizeof first);
    **pool = {0, 0, 0, {1, 1, 1}};
    return result(cudaSuccess);
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    if (!pool || pool == &first)
        return result(cudaErrorInvalidValue);
    Turn turn;
    if (current == pool)
        current = &first;
    for (Taken &each : all) // what is still in use ends with the program
        if (each.pool == pool)
            each.pool = &first;
    free(pool);
    return result(cudaSuccess);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
    if (!pool || !value)
        return result(cudaErrorInvalidValue);
    if (int *flag = flag_of(pool, attribute))
        *flag = *(int *)value;
    else if (attribute == cudaMemPoolAttrReleaseThreshold)
        pool->threshold_nbytes = *(unsigned long long *)value;
    else if (attribute == cudaMemPoolAttrUsedMemHigh || attribute == cudaMemPoolAttrReservedMemHigh)
        pool->most_nbytes = pool->used_nbytes; // it may only be set back
    else
        return result(cudaErrorInvalidValue);
    return result(cudaSuccess);
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
    if (!pool || !value)
        return result(cudaErrorInvalidValue);
    if (const int *flag = flag_of(pool, attribute))
        *(int *)value = *flag;
    else if (const unsigned long long *word = word_of(pool, attribute))
        *(unsigned long long *)value = *word;
    else
        return result(cudaErrorInvalidValue);
    return result(cudaSuccess);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) { return result_if(pool); }
// A pool's memory lies on the device, which always reads and writes it.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *accesses, size_t n)
{
    if (!pool || (n && !accesses))
        return result(cudaErrorInvalidValue);
    for (size_t i = 0; i < n; ++i)
        if (!is_own(accesses[i].location) || accesses[i].flags != cudaMemAccessFlagsProtReadWrite)
            return result(is_own(accesses[i].location) ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
    return result(cudaSuccess);
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool, cudaMemLocation *location)
{
    if (!flags || !pool || !location)
        return result(cudaErrorInvalidValue);
    *flags = is_own(*location) ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return result(is_own(*location) ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, cudaMemLocation *location, cudaMemAllocationType type)
{
    const cudaError_t status = pool ? check(location, type) : cudaErrorInvalidValue;
    return status ? result(status) : cudaDeviceGetDefaultMemPool(pool, 0);
}
cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, cudaMemLocation *location, cudaMemAllocationType type)
{
    const cudaError_t status = pool ? check(location, type) : cudaErrorInvalidValue;
    return status ? result(status) : cudaDeviceGetMemPool(pool, 0);
}
cudaError_t cudaMemSetMemPool(cudaMemLocation *location, cudaMemAllocationType type, cudaMemPool_t pool)
{
    const cudaError_t status = check(location, type);
    return status ? result(status) : cudaDeviceSetMemPool(0, pool);
}
}
