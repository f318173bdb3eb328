// Contexts: a stack of them in each thread, and the primary one that the runtime works on.
#include "contexts.h"
#include "list.h"

using namespace gpuprof;

namespace {

constexpr unsigned api_version = 3020; // of all contexts since that release
constexpr unsigned flags_mask = CU_CTX_FLAGS_MASK;

CUctx_st primary = {1, 0, 0, false, CU_FUNC_CACHE_PREFER_NONE, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE};
List<CUcontext> all; // but the primary one; handles stay known after their end
bool is_initialized = false, is_active = false; // the primary one
thread_local List<CUcontext> stack;

bool is_context(CUcontext context) { return context == &primary || all.has(context); }

CUcontext &top() { return stack[stack.n - 1]; }

void set_current(CUcontext context)
{
    if (stack.n)
        --stack.n;
    if (context)
        stack.add(context);
}

CUresult check(CUcontext context)
{
    Turn turn;
    if (!is_context(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    return context->is_destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

CUresult make(CUcontext *made, unsigned flags, CUdevice device)
{
    if (!made || flags & ~flags_mask)
        return CUDA_ERROR_INVALID_VALUE;
    if (device)
        return CUDA_ERROR_INVALID_DEVICE;
    Turn turn;
    CUcontext context = (CUcontext)malloc(sizeof *context);
    *context = primary;
    context->id = all.n + 2;
    context->flags = flags;
    context->n_uses = 1;
    context->is_destroyed = false;
    all.add(context);
    stack.add(context);
    *made = context;
    return CUDA_SUCCESS;
}

CUresult destroy(CUcontext context)
{
    if (context == &primary)
        return CUDA_ERROR_INVALID_CONTEXT; // cuDevicePrimaryCtxRelease is its end
    if (const CUresult error = check(context))
        return error;
    const CUresult error = as(cudaDeviceSynchronize());
    context->is_destroyed = true;
    if (stack.n && top() == context)
        --stack.n;
    return error;
}

// The state of the context that a call is about, which has one.
CUctx_st &settings() { return *current_context(); }

template <typename T> CUresult give(T *to, T value)
{
    if (to)
        *to = value;
    return result_of(to);
}


CUresult limit_error(cudaError_t error) { return error == cudaErrorInvalidValue ? CUDA_ERROR_UNSUPPORTED_LIMIT : as(error); }

} // namespace

namespace gpuprof {

void note_runtime_call()
{
    is_initialized = is_active = true;
    if (!stack.n)
        stack.add(&primary);
}

CUcontext current_context() { return stack.n ? top() : nullptr; }

CUresult missing(Needs needs)
{
    if (needs != Needs::nothing && !is_initialized)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (needs != Needs::context)
        return CUDA_SUCCESS;
    CUcontext context = current_context();
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return context->is_destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

} // namespace gpuprof

extern "C" {
CUresult cuInit(unsigned int flags)
{
    is_initialized = is_initialized || !flags;
    return result_of(!flags);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    return driver_call<Needs::cu_init>([=] {
        if (device)
            return CUDA_ERROR_INVALID_DEVICE;
        ++primary.n_uses;
        is_active = true;
        return give(context, &primary);
    });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    return driver_call<Needs::cu_init>([=] {
        if (device)
            return CUDA_ERROR_INVALID_DEVICE;
        if (!primary.n_uses)
            return CUDA_ERROR_INVALID_CONTEXT;
        is_active = --primary.n_uses;
        return CUDA_SUCCESS;
    });
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    return driver_call<Needs::cu_init>([=] {
        if (device || flags & ~flags_mask)
            return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
        primary.flags = flags;
        return CUDA_SUCCESS;
    });
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    return driver_call<Needs::cu_init>([=] {
        if (device || !flags || !active)
            return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
        *flags = primary.flags;
        *active = is_active;
        return CUDA_SUCCESS;
    });
}
CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    return driver_call<Needs::cu_init>([=] {
        is_active = is_active && device;
        return device ? CUDA_ERROR_INVALID_DEVICE : as(cudaDeviceSynchronize());
    });
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    return driver_call<Needs::cu_init>([=] { return make(context, flags, device); });
}
CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *, int n, unsigned int flags, CUdevice device)
{
    return driver_call<Needs::cu_init>([=] { return n ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : make(context, flags, device); });
}
CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *how, unsigned int flags, CUdevice device)
{
    return driver_call<Needs::cu_init>([=] {
        if (how && how->cigParams)
            return CUDA_ERROR_NOT_SUPPORTED;
        return how && how->numExecAffinityParams ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : make(context, flags, device);
    });
}
CUresult cuCtxDestroy(CUcontext context)
{
    return driver_call<Needs::cu_init>([=] { return destroy(context); });
}
CUresult cuCtxAttach(CUcontext *context, unsigned int flags)
{
    return driver_call([=] {
        if (!context || flags)
            return CUDA_ERROR_INVALID_VALUE;
        ++settings().n_uses;
        return give(context, current_context());
    });
}
CUresult cuCtxDetach(CUcontext context)
{
    return driver_call([=] {
        if (context != current_context())
            return CUDA_ERROR_INVALID_CONTEXT;
        return --context->n_uses ? CUDA_SUCCESS : destroy(context);
    });
}
CUresult cuCtxSetCurrent(CUcontext context)
{
    return driver_call<Needs::cu_init>([=] {
        const CUresult error = context ? check(context) : CUDA_SUCCESS;
        if (!error)
            set_current(context);
        return error;
    });
}
CUresult cuCtxGetCurrent(CUcontext *context)
{
    return driver_call<Needs::cu_init>([=] { return give(context, current_context()); });
}
CUresult cuCtxPushCurrent(CUcontext context)
{
    return driver_call<Needs::cu_init>([=] {
        const CUresult error = check(context);
        if (!error)
            stack.add(context);
        return error;
    });
}
CUresult cuCtxPopCurrent(CUcontext *context)
{
    return driver_call<Needs::cu_init>([=] {
        if (!stack.n)
            return CUDA_ERROR_INVALID_CONTEXT;
        if (context)
            *context = top();
        --stack.n;
        return CUDA_SUCCESS;
    });
}
CUresult cuCtxGetDevice(CUdevice *device)
{
    return driver_call([=] { return give(device, 0); });
}
CUresult cuCtxGetFlags(unsigned int *flags)
{
    return driver_call([=] { return give(flags, settings().flags); });
}
CUresult cuCtxSetFlags(unsigned int flags)
{
    return driver_call([=] {
        if (!(flags & ~flags_mask))
            settings().flags = flags;
        return result_of(!(flags & ~flags_mask));
    });
}
CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
    return driver_call([=] {
        const CUresult error = context ? check(context) : CUDA_SUCCESS;
        return error ? error : give(id, (context ? context : current_context())->id);
    });
}
CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version)
{
    return driver_call([=] {
        const CUresult error = context ? check(context) : CUDA_SUCCESS;
        return error ? error : give(version, api_version);
    });
}
CUresult cuCtxSynchronize(void)
{
    return driver_call([] { return cudaDeviceSynchronize(); });
}
CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    return driver_call([=] { return give(config, settings().cache); });
}
CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    return driver_call([=] {
        if ((unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL)
            settings().cache = config;
        return result_of((unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL);
    });
}
// Banks of all these cards have four bytes: what is asked for is not taken.
CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    return driver_call([=] { return give(config, settings().banks); });
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    return driver_call([=] { return result_of((unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE); });
}
CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    return driver_call([=] { return value ? limit_error(cudaDeviceGetLimit(value, (cudaLimit)limit)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    return driver_call([=] { return limit_error(cudaDeviceSetLimit((cudaLimit)limit, value)); });
}
CUresult cuCtxResetPersistingL2Cache(void)
{
    return driver_call([] { return CUDA_SUCCESS; });
}
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    return driver_call([=] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}
CUresult cuCtxGetExecAffinity(CUexecAffinityParam *affinity, CUexecAffinityType type)
{
    return driver_call([=] {
        if (!affinity || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT)
            return affinity ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : CUDA_ERROR_INVALID_VALUE;
        affinity->type = type;
        return as(cudaDeviceGetAttribute((int *)&affinity->param.smCount.val, cudaDevAttrMultiProcessorCount, 0));
    });
}
CUresult cuCtxEnablePeerAccess(CUcontext context, unsigned int flags)
{
    return driver_call([=] {
        if (const CUresult error = check(context))
            return error;
        return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED; // they have one device
    });
}
CUresult cuCtxDisablePeerAccess(CUcontext context)
{
    return driver_call([=] {
        const CUresult error = check(context);
        return error ? error : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    });
}
}
