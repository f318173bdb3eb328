// Streams and events. A stream's handle is its number after those that CUDA reserves.
#include "streams.h"
#include "graphs.h"

using namespace gpuprof;

namespace {
cudaError_t wait_for(Waits waits, unsigned long long handle) { return ask(Call::synchronize, waits, handle).status; }
cudaError_t wait_for(cudaStream_t stream)
{
    const cudaError_t status = check_wait(stream);
    return status ? status : wait_for(Waits::stream, number(stream));
}
cudaError_t wait_for(cudaEvent_t event)
{
    const cudaError_t status = check_wait(event);
    return status ? status : wait_for(Waits::event, (unsigned long long)event);
}

// Streams know what they were made with.
struct Made {
    cudaStream_t stream;
    unsigned flags;
    int priority;
};
List<Made> all;

const Made own[] = {{nullptr, cudaStreamDefault, 0}, {cudaStreamLegacy, cudaStreamDefault, 0}, {cudaStreamPerThread, cudaStreamDefault, 0}};

// Null: there is no such stream.
const Made *made_with(cudaStream_t stream)
{
    for (const Made &each : own)
        if (each.stream == stream)
            return &each;
    for (const Made &each : all)
        if (each.stream == stream)
            return &each;
    return nullptr;
}

template <typename T, typename Field> cudaError_t give(T *to, cudaStream_t stream, Field field)
{
    Turn turn;
    const Made *made = made_with(stream);
    if (made && to)
        *to = made->*field;
    return made ? to ? cudaSuccess : cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
}

cudaError_t make_stream(cudaStream_t *stream, unsigned flags, int priority)
{
    if (!stream || flags > cudaStreamNonBlocking)
        return cudaErrorInvalidValue;
    const int kept = priority > 0 ? 0 : priority < -5 ? -5 : priority; // CUDA takes the nearest of its range
    Turn turn;
    const Reply reply = ask(Call::make_stream, (long long)kept, (unsigned long long)flags);
    *stream = (cudaStream_t)reply.words[make_stream_gives::stream];
    if (!reply.status)
        all.add({*stream, flags, kept});
    return reply.status;
}
cudaError_t destroy_stream(cudaStream_t stream)
{
    Turn turn;
    for (size_t i = 0; i < all.n; ++i)
        if (all[i].stream == stream) {
            leave_captures(stream);
            all.drop(i);
            return ask(Call::destroy_stream, number(stream)).status;
        }
    return cudaErrorInvalidResourceHandle;
}
constexpr unsigned event_flags = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
cudaError_t make_event(cudaEvent_t *event, unsigned flags)
{
    const bool is_timed_elsewhere = flags & cudaEventInterprocess && !(flags & cudaEventDisableTiming);
    if (!event || flags & ~event_flags || is_timed_elsewhere)
        return cudaErrorInvalidValue;
    const Reply reply = ask(Call::make_event);
    *event = (cudaEvent_t)reply.words[make_event_gives::event];
    if (!reply.status)
        add_event(*event, flags);
    return reply.status;
}
cudaError_t time_between(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    if (!milliseconds)
        return cudaErrorInvalidValue;
    const cudaError_t wrong = check_timed(start) ? check_timed(start) : check_timed(end);
    if (wrong)
        return wrong;
    const Reply reply = ask(Call::event_time, (unsigned long long)start, (unsigned long long)end);
    *milliseconds = (float)((double)(long long)reply.words[event_time_gives::nanoseconds] * 1e-6);
    return reply.status;
}
cudaError_t call_back(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags)
{
    if (!callback || flags)
        return cudaErrorInvalidValue;
    if (!is_stream(stream))
        return cudaErrorInvalidResourceHandle;
    cudaError_t status = check_supported(stream);
    if (!status) {
        status = ask(Call::host_function, number(stream)).status;
        callback(stream, status, data);
    }
    return status;
}
cudaError_t call_host(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    if (!function)
        return cudaErrorInvalidValue;
    if (!is_stream(stream))
        return cudaErrorInvalidResourceHandle;
    Graph *graph;
    cudaError_t status = enter(stream, &graph);
    if (status || graph)
        return status ? status : add_host(graph, stream, function, data);
    status = ask(Call::host_function, number(stream)).status;
    if (!status)
        function(data);
    return status;
}
} // namespace

namespace gpuprof {
bool is_stream(cudaStream_t stream)
{
    Turn turn;
    return made_with(stream);
}
bool is_blocking(cudaStream_t stream)
{
    Turn turn;
    const Made *made = made_with(stream);
    return made && !(made->flags & cudaStreamNonBlocking);
}
} // namespace gpuprof

extern "C" {
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return result(make_stream(stream, cudaStreamDefault, 0)); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) { return result(make_stream(stream, flags, 0)); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    return result(make_stream(stream, flags, priority));
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) { return result(give(priority, stream, &Made::priority)); }
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags) { return result(give(flags, stream, &Made::flags)); }
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    if (id && is_stream(stream))
        *id = number(stream);
    return result(is_stream(stream) ? id ? cudaSuccess : cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return result(destroy_stream(stream)); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return result(wait_for(stream)); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return result(wait_for(stream)); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) { return result(wait(stream, event)); }
// What is called when the stream is done: here that is at once, after waiting for it.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned int flags)
{
    return result(call_back(stream, callback, data, flags));
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) { return result(call_host(stream, function, data)); }

cudaError_t cudaEventCreate(cudaEvent_t *event) { return result(make_event(event, cudaEventDefault)); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) { return result(make_event(event, flags)); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return result(record(event, stream)); }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int) { return result(record(event, stream)); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return result(drop_event(event)); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return result(wait_for(event)); }
cudaError_t cudaEventQuery(cudaEvent_t event) { return result(wait_for(event)); }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) { return result(time_between(milliseconds, start, end)); }
}
