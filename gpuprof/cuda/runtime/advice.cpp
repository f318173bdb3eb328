// Managed memory: what a program advises, and where it wants it. It is told to gpuprof, remembered and given back.
#include "arena.h"
#include "captures.h"
#include "list.h"
#include "runtime_copies.h"

using namespace gpuprof;

namespace {

enum What { read_mostly, preferred, accessed_by, prefetched }; // the first three as commands.ADVICE has them

struct Advice {
    const char *start, *end;
    What what;
    bool is_on;
    cudaMemLocation location;
};
List<Advice> all; // a later one overrides

// Whether all of it is one allocation that the host may touch, or a `__managed__` variable.
bool is_managed(const void *p, size_t nbytes)
{
    if (is_managed_variable(p))
        return true;
    if (!is_device(p))
        return false;
    const void *start, *last;
    return nbytes && kind_of(p, &start) == managed_memory && start && kind_of((char *)p + nbytes - 1, &last) == managed_memory && start == last;
}

cudaError_t check(const void *p, size_t nbytes, const cudaMemLocation &location)
{
    switch (location.type) {
    case cudaMemLocationTypeDevice:
        if (location.id)
            return cudaErrorInvalidDevice;
        break;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent: break;
    default: return cudaErrorInvalidValue;
    }
    return is_managed(p, nbytes) ? cudaSuccess : cudaErrorInvalidValue;
}

bool is_host(const cudaMemLocation &location) { return location.type != cudaMemLocationTypeDevice; }

cudaMemLocation of_device(int device)
{
    if (device == cudaCpuDeviceId)
        return {cudaMemLocationTypeHost, 0};
    return {cudaMemLocationTypeDevice, device};
}

void keep(const void *p, size_t nbytes, What what, bool is_on, cudaMemLocation location)
{
    Turn turn;
    all.add({(const char *)p, (const char *)p + nbytes, what, is_on, location});
}

cudaError_t advise(const void *p, size_t nbytes, cudaMemoryAdvise advice, cudaMemLocation location)
{
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
        return cudaErrorInvalidValue;
    // For these the location says nothing.
    const bool is_placeless = advice <= cudaMemAdviseUnsetReadMostly || advice == cudaMemAdviseUnsetPreferredLocation;
    if (const cudaError_t status = check(p, nbytes, is_placeless ? of_device(0) : location))
        return status;
    static const What what[] = {read_mostly, read_mostly, preferred, preferred, accessed_by, accessed_by};
    const unsigned i = advice - cudaMemAdviseSetReadMostly;
    const bool to_host = !is_placeless && is_host(location);
    if (const cudaError_t status = ask(Call::advise, p, nbytes, what[i], i % 2 == 0, to_host).status)
        return status;
    keep(p, nbytes, what[i], i % 2 == 0, location);
    return cudaSuccess;
}

cudaError_t prefetch(const void *p, size_t nbytes, cudaMemLocation location, cudaStream_t stream)
{
    if (const cudaError_t status = check(p, nbytes, location))
        return status;
    if (const cudaError_t status = ask(Call::prefetch, p, nbytes, is_host(location), number(stream)).status)
        return status;
    keep(p, nbytes, prefetched, true, location);
    return cudaSuccess;
}

constexpr cudaMemLocation nowhere = {cudaMemLocationTypeInvalid, cudaInvalidDeviceId};
bool is_same(const cudaMemLocation &one, const cudaMemLocation &other) { return one.type == other.type && one.id == other.id; }

// At one address: the last advice of a kind, with `is_on` false where there is none.
Advice last_at(const char *p, What what)
{
    for (size_t i = all.n; i-- > 0;)
        if (all[i].what == what && p >= all[i].start && p < all[i].end)
            return all[i].is_on ? all[i] : Advice{p, p, what, false, nowhere};
    return {p, p, what, false, nowhere};
}

// Of a whole range: nowhere, unless all of it has the same.
Advice of_range(const char *p, size_t nbytes, What what)
{
    const Advice first = last_at(p, what);
    for (const Advice &each : all)
        for (const char *edge = each.start; edge; edge = edge == each.start ? each.end : nullptr)
            if (edge > p && edge < p + nbytes) {
                const Advice there = last_at(edge, what);
                if (there.is_on != first.is_on || !is_same(there.location, first.location))
                    return {p, p, what, false, nowhere};
            }
    return first;
}

int device_of(const cudaMemLocation &location)
{
    return location.type == cudaMemLocationTypeDevice ? location.id
           : location.type == cudaMemLocationTypeHost ? cudaCpuDeviceId
                                                      : cudaInvalidDeviceId;
}

// The processors that all of a range was advised for, as numbers of devices.
void give_accessors(int *to, size_t n, const char *p, size_t nbytes)
{
    const Advice found = of_range(p, nbytes, accessed_by);
    for (size_t i = 0; i < n; ++i)
        to[i] = i || !found.is_on ? cudaInvalidDeviceId : device_of(found.location);
}

cudaError_t give(void *data, size_t data_nbytes, cudaMemRangeAttribute attribute, const void *p, size_t nbytes)
{
    const bool is_list = attribute == cudaMemRangeAttributeAccessedBy;
    if (!data || !data_nbytes || data_nbytes % sizeof(int) || (!is_list && data_nbytes != sizeof(int)) || !is_managed(p, nbytes))
        return cudaErrorInvalidValue;
    Turn turn;
    const char *start = (const char *)p;
    const Advice its_place = of_range(start, nbytes, preferred), its_last = of_range(start, nbytes, prefetched);
    int *to = (int *)data;
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly: *to = of_range(start, nbytes, read_mostly).is_on; return cudaSuccess;
    case cudaMemRangeAttributePreferredLocation: *to = device_of(its_place.location); return cudaSuccess;
    case cudaMemRangeAttributeAccessedBy: give_accessors(to, data_nbytes / sizeof(int), start, nbytes); return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocation: *to = device_of(its_last.location); return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationType: *to = its_place.location.type; return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationId: *to = its_place.location.id; return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocationType: *to = its_last.location.type; return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocationId: *to = its_last.location.id; return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

// `first_of`: the first range of each location.
cudaError_t prefetch_all(void **p, size_t *nbytes, size_t n, cudaMemLocation *locations, size_t *first_of, size_t n_locations, cudaStream_t stream)
{
    if (!p || !nbytes || !n || !locations || !first_of || !n_locations || n_locations > n || first_of[0])
        return cudaErrorInvalidValue;
    if (const cudaError_t status = check_supported(stream))
        return status;
    OneCall whole;
    for (size_t i = 0, its = 0; i < n; ++i) {
        while (its + 1 < n_locations && first_of[its + 1] <= i)
            ++its;
        if (const cudaError_t status = prefetch(p[i], nbytes[i], locations[its], stream))
            return status;
    }
    return cudaSuccess;
}

// What was in it is undefined from now on.
cudaError_t discard_all(void **p, size_t *nbytes, size_t n)
{
    if (!p || !nbytes || !n)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; ++i)
        if (!is_managed(p[i], nbytes[i]))
            return cudaErrorInvalidValue;
    return cudaSuccess;
}

} // namespace

extern "C" {
cudaError_t cudaMemPrefetchAsync(const void *p, size_t nbytes, int device, cudaStream_t stream)
{
    const cudaError_t status = check_supported(stream);
    return result(status ? status : prefetch(p, nbytes, of_device(device), stream));
}
cudaError_t cudaMemPrefetchAsync_v2(const void *p, size_t nbytes, cudaMemLocation location, unsigned int flags, cudaStream_t stream)
{
    const cudaError_t status = check_supported(stream);
    return result(flags ? cudaErrorInvalidValue : status ? status : prefetch(p, nbytes, location, stream));
}
cudaError_t cudaMemAdvise(const void *p, size_t nbytes, cudaMemoryAdvise advice, int device)
{
    return result(advise(p, nbytes, advice, of_device(device)));
}
cudaError_t cudaMemAdvise_v2(const void *p, size_t nbytes, cudaMemoryAdvise advice, cudaMemLocation location)
{
    return result(advise(p, nbytes, advice, location));
}
cudaError_t cudaMemRangeGetAttribute(void *data, size_t data_nbytes, cudaMemRangeAttribute attribute, const void *p, size_t nbytes)
{
    return result(give(data, data_nbytes, attribute, p, nbytes));
}
cudaError_t cudaMemRangeGetAttributes(void **data, size_t *data_nbytes, cudaMemRangeAttribute *attributes, size_t n, const void *p, size_t nbytes)
{
    cudaError_t status = data && data_nbytes && attributes && n ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < n && !status; ++i)
        status = give(data[i], data_nbytes[i], attributes[i], p, nbytes);
    return result(status);
}
cudaError_t cudaMemPrefetchBatchAsync(void **p, size_t *nbytes, size_t n, cudaMemLocation *locations, size_t *first_of, size_t n_locations,
                                      unsigned long long flags, cudaStream_t stream)
{
    return result(flags ? cudaErrorInvalidValue : prefetch_all(p, nbytes, n, locations, first_of, n_locations, stream));
}
cudaError_t cudaMemDiscardBatchAsync(void **p, size_t *nbytes, size_t n, unsigned long long flags, cudaStream_t)
{
    return result(flags ? cudaErrorInvalidValue : discard_all(p, nbytes, n));
}
cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **p, size_t *nbytes, size_t n, cudaMemLocation *locations, size_t *first_of, size_t n_locations,
                                                unsigned long long flags, cudaStream_t stream)
{
    const cudaError_t status = flags ? cudaErrorInvalidValue : discard_all(p, nbytes, n);
    return result(status ? status : prefetch_all(p, nbytes, n, locations, first_of, n_locations, stream));
}
}
