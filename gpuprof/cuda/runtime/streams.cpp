// Streams and events. A stream's handle is its number after those that CUDA reserves.
#include "channel.h"
#include "graphs.h"

using namespace gpuprof;

namespace {
// A stream that is captured does nothing that one could wait for.
cudaError_t synchronize(bool is_captured, Waits waits, unsigned long long handle)
{
    return is_captured ? cudaErrorStreamCaptureUnsupported : ask(Call::synchronize, waits, handle).status;
}
cudaError_t wait_for(cudaStream_t stream) { return synchronize(captured_by(stream), Waits::stream, number(stream)); }
cudaError_t wait_for(cudaEvent_t event) { return synchronize(is_waiting_refused(), Waits::event, (unsigned long long)event); }

cudaError_t record(cudaEvent_t event, cudaStream_t stream)
{
    if (!captured_by(stream))
        return ask(Call::record, (unsigned long long)event, number(stream)).status;
    note_event(event, stream);
    return cudaSuccess;
}
cudaError_t wait(cudaStream_t stream, cudaEvent_t event)
{
    if (waits_for_captured(stream, event))
        return cudaSuccess;
    if (captured_by(stream))
        return cudaErrorStreamCaptureIsolation;
    return ask(Call::wait, (unsigned long long)event, number(stream)).status;
}

// Streams know what they were made with.
struct Made {
    cudaStream_t stream;
    unsigned flags;
    int priority;
};
List<Made> all;

Made made_with(cudaStream_t stream)
{
    Turn turn;
    for (const Made &each : all)
        if (each.stream == stream)
            return each;
    return {stream, cudaStreamDefault, 0};
}

cudaError_t make_stream(cudaStream_t *stream, unsigned flags, int priority)
{
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
            all.drop(i);
            break;
        }
    return ask(Call::destroy_stream, number(stream)).status;
}
cudaError_t make_event(cudaEvent_t *event)
{
    const Reply reply = ask(Call::make_event);
    *event = (cudaEvent_t)reply.words[make_event_gives::event];
    return reply.status;
}
} // namespace

extern "C" {
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return result(make_stream(stream, cudaStreamDefault, 0)); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) { return result(make_stream(stream, flags, 0)); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority) { return result(make_stream(stream, flags, priority)); }
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    *priority = made_with(stream).priority;
    return cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
    *flags = made_with(stream).flags;
    return cudaSuccess;
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    *id = number(stream);
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return result(destroy_stream(stream)); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return result(wait_for(stream)); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return result(wait_for(stream)); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) { return result(wait(stream, event)); }
// What is called when the stream is done: here that is at once, after waiting for it.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned int)
{
    const cudaError_t status = synchronize(captured_by(stream), Waits::nothing, 0);
    if (status == cudaErrorStreamCaptureUnsupported)
        return result(status);
    callback(stream, status, data);
    return result(status);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    if (Graph *graph = captured_by(stream))
        return result(add_host(graph, stream, function, data));
    const cudaError_t status = synchronize(false, Waits::nothing, 0);
    function(data);
    return result(status);
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return result(make_event(event)); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int) { return result(make_event(event)); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return result(record(event, stream)); }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int) { return result(record(event, stream)); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return result_if(event); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return result(wait_for(event)); }
cudaError_t cudaEventQuery(cudaEvent_t event) { return result(wait_for(event)); }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    const Reply reply = ask(Call::event_time, (unsigned long long)start, (unsigned long long)end);
    *milliseconds = (float)((double)(long long)reply.words[event_time_gives::nanoseconds] * 1e-6);
    return result(reply.status);
}
}
