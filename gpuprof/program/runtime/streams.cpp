// Streams and events. A stream's handle is its number behind those that CUDA keeps for itself.
#include "channel.h"

using namespace gpuprof;

namespace {
cudaError_t synchronize() { return ask(Call::synchronize).status; }

cudaError_t make_stream(cudaStream_t *stream, int priority)
{
    const Reply reply = ask(Call::make_stream, (long long)priority);
    *stream = (cudaStream_t)reply.words[make_stream_gives::stream];
    return reply.status;
}
cudaError_t make_event(cudaEvent_t *event)
{
    const Reply reply = ask(Call::make_event);
    *event = (cudaEvent_t)reply.words[make_event_gives::event];
    return reply.status;
}
} // namespace

extern "C" {
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return result(make_stream(stream, 0)); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int) { return result(make_stream(stream, 0)); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int, int priority) { return result(make_stream(stream, priority)); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return result(ask(Call::destroy_stream, number(stream)).status); }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return result(synchronize()); }
cudaError_t cudaStreamQuery(cudaStream_t) { return result(synchronize()); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int)
{
    return result(ask(Call::wait, (unsigned long long)event, number(stream)).status);
}
// What is called when the stream is done: here that is at once, after waiting for it.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned int)
{
    const cudaError_t status = synchronize();
    callback(stream, status, data);
    return result(status);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void *data)
{
    const cudaError_t status = synchronize();
    function(data);
    return result(status);
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return result(make_event(event)); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int) { return result(make_event(event)); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return result(ask(Call::record, (unsigned long long)event, number(stream)).status); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return result_if(event); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return result(synchronize()); }
cudaError_t cudaEventQuery(cudaEvent_t) { return result(synchronize()); }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    const Reply from = ask(Call::event_time, (unsigned long long)start), to = ask(Call::event_time, (unsigned long long)end);
    *milliseconds = (float)((double)(long long)(to.words[0] - from.words[0]) * 1e-6);
    return result(from.status ? from.status : to.status);
}
}
