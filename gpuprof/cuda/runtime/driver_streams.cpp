// Streams and events of the driver, and its operations on words of memory in a stream's order.
#include "arena.h"
#include "contexts.h"
#include "graphs.h"
#include "list.h"

#include <string.h>

using namespace gpuprof;

namespace {

struct Made { // streams of the driver
    CUstream stream;
    CUcontext context;
};
List<Made> made;

CUresult keep(CUresult error, CUstream *stream)
{
    Turn turn;
    if (!error)
        made.add({*stream, current_context()});
    return error;
}

CUresult make_stream(CUstream *stream, unsigned flags, int priority)
{
    if (!stream || flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    return keep(as(cudaStreamCreateWithPriority(stream, flags, priority)), stream);
}

CUresult destroy(CUstream stream)
{
    if ((size_t)stream <= (size_t)CU_STREAM_PER_THREAD)
        return CUDA_ERROR_INVALID_HANDLE; // the default one
    Turn turn;
    for (size_t i = 0; i < made.n; ++i)
        if (made[i].stream == stream) {
            made.drop(i);
            break;
        }
    return as(cudaStreamDestroy(stream));
}

CUcontext context_of(CUstream stream)
{
    Turn turn;
    for (const Made &each : made)
        if (each.stream == stream)
            return each.context;
    return current_context();
}

constexpr unsigned event_flags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

// The last write of a word that a stream was asked for: later waits on it come after it.
struct Write {
    CUdeviceptr p;
    CUevent event;
};
List<Write> writes;

CUevent *event_of(CUdeviceptr p)
{
    for (Write &each : writes)
        if (each.p == p)
            return &each.event;
    return nullptr;
}

CUresult write_value(CUstream stream, CUdeviceptr p, unsigned long long value, size_t nbytes, unsigned flags)
{
    if (!p || p % nbytes || flags & ~CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
        return CUDA_ERROR_INVALID_VALUE;
    if (const cudaError_t status = check_supported(stream))
        return as(status);
    Turn turn;
    CUresult error = as(copy(pointer(p), &value, nbytes, cudaMemcpyDefault, stream));
    if (!error && !event_of(p)) {
        CUevent event;
        error = as(cudaEventCreate(&event));
        if (!error)
            writes.add({p, event});
    }
    return error ? error : as(cudaEventRecord(*event_of(p), stream));
}

bool holds(unsigned flags, unsigned long long found, unsigned long long value, size_t nbytes)
{
    const unsigned long long mask = nbytes == 8 ? ~0ull : 0xffffffffull, sign = 1ull << (8 * nbytes - 1);
    switch (flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ: return !((found - value) & sign); // cyclic, as the manual has it
    case CU_STREAM_WAIT_VALUE_EQ: return found == value;
    case CU_STREAM_WAIT_VALUE_AND: return (found & value) != 0;
    default: return (~(found | value) & mask) != 0;
    }
}

// Requests are done in their order: what has not been written by now comes too late.
CUresult wait_value(CUstream stream, CUdeviceptr p, unsigned long long value, size_t nbytes, unsigned flags)
{
    if (!p || p % nbytes || flags & ~(3u | CU_STREAM_WAIT_VALUE_FLUSH))
        return CUDA_ERROR_INVALID_VALUE;
    if (const cudaError_t status = check_supported(stream))
        return as(status);
    OneCall whole;
    unsigned long long found = 0;
    CUresult error = event_of(p) ? as(cudaStreamWaitEvent(stream, *event_of(p), 0)) : CUDA_SUCCESS;
    error = error ? error : as(copy(&found, pointer(p), nbytes, cudaMemcpyDefault, stream));
    if (error || holds(flags, found, value, nbytes))
        return error;
    static const char what[] = "a wait for a value that nothing before it writes";
    ask_with(text(what), nullptr, Call::refuse);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult do_operation(CUstream stream, const CUstreamBatchMemOpParams &what)
{
    const auto &wait = what.waitValue;
    const auto &write = what.writeValue;
    switch (what.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32: return wait_value(stream, wait.address, wait.value, 4, wait.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: return wait_value(stream, wait.address, wait.value64, 8, wait.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: return write_value(stream, write.address, write.value, 4, write.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return write_value(stream, write.address, write.value64, 8, write.flags);
    case CU_STREAM_MEM_OP_BARRIER: return CUDA_SUCCESS; // all operations are ordered
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

} // namespace

extern "C" {
CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    return driver_call([=] { return make_stream(stream, flags, 0); });
}
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    return driver_call([=] { return make_stream(stream, flags, priority); });
}
CUresult cuStreamDestroy(CUstream stream)
{
    return driver_call([=] { return destroy(stream); });
}
CUresult cuStreamSynchronize(CUstream stream)
{
    return driver_call([=] { return cudaStreamSynchronize(stream); });
}
CUresult cuStreamQuery(CUstream stream)
{
    return driver_call([=] { return cudaStreamQuery(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    return driver_call([=] {
        if (!event || flags & ~CU_EVENT_WAIT_EXTERNAL)
            return event ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
        return as(cudaStreamWaitEvent(stream, event, flags));
    });
}
CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
    return driver_call([=] { return priority ? as(cudaStreamGetPriority(stream, priority)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags)
{
    return driver_call([=] { return flags ? as(cudaStreamGetFlags(stream, flags)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuStreamGetId(CUstream stream, unsigned long long *id)
{
    return driver_call([=] { return id ? as(cudaStreamGetId(stream, id)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuStreamGetDevice(CUstream, CUdevice *device)
{
    return driver_call([=] {
        if (device)
            *device = 0;
        return result_of(device);
    });
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    return driver_call([=] {
        if (context)
            *context = context_of(stream);
        return result_of(context);
    });
}
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green)
{
    return driver_call([=] {
        if (context)
            *context = context_of(stream);
        if (green)
            *green = nullptr;
        return result_of(context && green);
    });
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void *data, unsigned int flags)
{
    return driver_call(
        [=] { return function && !flags ? as(cudaStreamAddCallback(stream, (cudaStreamCallback_t)function, data, 0)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr p, size_t nbytes, unsigned int flags)
{
    return driver_call([=] {
        Range range;
        const bool is_whole = allocation_of(pointer(p), &range) && range.start == pointer(p) && (!nbytes || nbytes == range.nbytes);
        const bool is_kind = is_whole && range.kind == managed_memory;
        if (!is_kind || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE))
            return CUDA_ERROR_INVALID_VALUE;
        return as(cudaStreamAttachMemAsync(stream, pointer(p), nbytes, flags));
    });
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    return driver_call([=] { return function ? as(cudaLaunchHostFunc(stream, function, data)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr p, cuuint32_t value, unsigned int flags)
{
    return driver_call([=] { return write_value(stream, p, value, 4, flags); });
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr p, cuuint64_t value, unsigned int flags)
{
    return driver_call([=] { return write_value(stream, p, value, 8, flags); });
}
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr p, cuuint32_t value, unsigned int flags)
{
    return driver_call([=] { return wait_value(stream, p, value, 4, flags); });
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr p, cuuint64_t value, unsigned int flags)
{
    return driver_call([=] { return wait_value(stream, p, value, 8, flags); });
}
CUresult cuStreamBatchMemOp(CUstream stream, unsigned int n, CUstreamBatchMemOpParams *operations, unsigned int flags)
{
    return driver_call([=] {
        CUresult error = result_of(n && n <= 256 && operations && !flags);
        for (unsigned i = 0; i < n && !error; ++i)
            error = do_operation(stream, operations[i]);
        return error;
    });
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    return driver_call([=] {
        const bool is_right = event && !(flags & ~event_flags) && (!(flags & CU_EVENT_INTERPROCESS) || flags & CU_EVENT_DISABLE_TIMING);
        return is_right ? as(cudaEventCreateWithFlags(event, flags)) : CUDA_ERROR_INVALID_VALUE;
    });
}
CUresult cuEventDestroy(CUevent event)
{
    return driver_call([=] { return event ? as(cudaEventDestroy(event)) : CUDA_ERROR_INVALID_HANDLE; });
}
CUresult cuEventRecord(CUevent event, CUstream stream)
{
    return driver_call([=] { return event ? as(cudaEventRecord(event, stream)) : CUDA_ERROR_INVALID_HANDLE; });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags)
{
    return driver_call([=] {
        if (!event || flags & ~CU_EVENT_RECORD_EXTERNAL)
            return event ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
        return as(cudaEventRecordWithFlags(event, stream, flags));
    });
}
CUresult cuEventSynchronize(CUevent event)
{
    return driver_call([=] { return event ? as(cudaEventSynchronize(event)) : CUDA_ERROR_INVALID_HANDLE; });
}
CUresult cuEventQuery(CUevent event)
{
    return driver_call([=] { return event ? as(cudaEventQuery(event)) : CUDA_ERROR_INVALID_HANDLE; });
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    return driver_call([=] {
        if (!milliseconds || !start || !end)
            return milliseconds ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
        return as(cudaEventElapsedTime(milliseconds, start, end));
    });
}
}
