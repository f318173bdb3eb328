// Attributes of streams: kept, and given back. They say how work is done, not which.
#include "channel.h"
#include "list.h"
#include "runtime_launches.h"

using namespace gpuprof;

namespace {

typedef cudaLaunchAttributeValue Value;

struct Kept {
    cudaStream_t stream;
    cudaLaunchAttributeID attribute;
    Value value;
};
List<Kept> all;

bool is_of_streams(cudaLaunchAttributeID attribute)
{
    switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain: return true;
    default: return false;
    }
}

bool is_valid(cudaLaunchAttributeID attribute, const Value &value)
{
    const cudaAccessPolicyWindow &window = value.accessPolicyWindow;
    switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow:
        return window.hitRatio >= 0 && window.hitRatio <= 1 && (unsigned)window.hitProp <= cudaAccessPropertyPersisting &&
               (unsigned)window.missProp <= cudaAccessPropertyStreaming;
    case cudaLaunchAttributeSynchronizationPolicy: return value.syncPolicy >= cudaSyncPolicyAuto && value.syncPolicy <= cudaSyncPolicyBlockingSync;
    case cudaLaunchAttributeMemSyncDomain: return (unsigned)value.memSyncDomain <= cudaLaunchMemSyncDomainRemote;
    default: return true;
    }
}

cudaError_t usual(cudaStream_t stream, cudaLaunchAttributeID attribute, Value *value)
{
    *value = {};
    switch (attribute) {
    case cudaLaunchAttributeSynchronizationPolicy: value->syncPolicy = cudaSyncPolicyAuto; break;
    case cudaLaunchAttributeMemSyncDomainMap: value->memSyncDomainMap = {0, 1}; break;
    case cudaLaunchAttributePriority: return cudaStreamGetPriority(stream, &value->priority);
    default: break;
    }
    return cudaSuccess;
}

cudaError_t check(cudaStream_t stream, cudaLaunchAttributeID attribute, const void *value)
{
    unsigned flags;
    const cudaError_t status = cudaStreamGetFlags(stream, &flags);
    return status ? status : value && is_of_streams(attribute) ? cudaSuccess : cudaErrorInvalidValue;
}

Kept *kept(cudaStream_t stream, cudaLaunchAttributeID attribute)
{
    for (Kept &each : all)
        if (each.stream == stream && each.attribute == attribute)
            return &each;
    return nullptr;
}

void keep(cudaStream_t stream, cudaLaunchAttributeID attribute, const Value &value)
{
    if (Kept *there = kept(stream, attribute))
        there->value = value;
    else
        all.add({stream, attribute, value});
}

} // namespace

extern "C" {
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute, const Value *value)
{
    if (const cudaError_t status = check(stream, attribute, value))
        return result(status);
    if (!is_valid(attribute, *value))
        return result(cudaErrorInvalidValue);
    Turn turn;
    keep(stream, attribute, *value);
    return result(cudaSuccess);
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute, Value *value)
{
    if (const cudaError_t status = check(stream, attribute, value))
        return result(status);
    Turn turn;
    const Kept *there = kept(stream, attribute);
    if (!there)
        return result(usual(stream, attribute, value));
    *value = there->value;
    return result(cudaSuccess);
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    for (int i = cudaLaunchAttributeAccessPolicyWindow; i <= cudaLaunchAttributeMemSyncDomain; ++i) {
        const cudaLaunchAttributeID attribute = (cudaLaunchAttributeID)i;
        Value value;
        if (!is_of_streams(attribute))
            continue;
        cudaError_t status = cudaStreamGetAttribute(from, attribute, &value);
        status = status ? status : cudaStreamSetAttribute(to, attribute, &value);
        if (status)
            return status;
    }
    return result(cudaSuccess);
}
}
