// The streams that are captured, and the events that were recorded in them.
#include "captures.h"
#include "graphs.h"
#include "streams.h"

namespace gpuprof {
namespace {

thread_local char here; // its address distinguishes threads
thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

struct Capture {
    unsigned long long id;
    Graph *graph;
    cudaStream_t origin;
    cudaStreamCaptureMode mode;
    const char *thread; // that began it
    bool is_valid;
};
struct Captured { // a stream of a capture. `tail`: what its next node waits for
    cudaStream_t stream;
    Capture *of;
    List<Node *> tail;
};
struct Event {
    bool is_there, is_recorded;
    unsigned flags;
    unsigned long long capture; // that it was last recorded in, 0 for none
    List<Node *> tail;
};
// All of them are of all threads: looked at in a Turn.
List<Capture *> captures;
List<Captured> captured;
List<Event> events; // by handle
unsigned long long n_captures = 0;

Captured *find(cudaStream_t stream)
{
    for (Captured &each : captured)
        if (each.stream == stream)
            return &each;
    return nullptr;
}

Capture *find(unsigned long long id) // null: it has ended
{
    for (Capture *each : captures)
        if (each->id == id)
            return each;
    return nullptr;
}

Event *find(cudaEvent_t event)
{
    const unsigned long long handle = (unsigned long long)event;
    return handle && handle <= events.n && events[handle - 1].is_there ? &events[handle - 1] : nullptr;
}

// What was recorded last.
void note(Event *event, unsigned long long capture, const List<Node *> &tail)
{
    event->is_recorded = true;
    event->capture = capture;
    event->tail.clear();
    event->tail.add_all(tail);
}

cudaError_t invalidate(Capture *capture, cudaError_t error)
{
    capture->is_valid = false;
    return error;
}

cudaError_t check_legacy()
{
    cudaError_t status = cudaSuccess;
    for (const Captured &each : captured)
        if (is_blocking(each.stream))
            status = invalidate(each.of, cudaErrorStreamCaptureImplicit);
    return status;
}

bool is_unsafe_in(const Capture &capture)
{
    if (thread_mode == cudaStreamCaptureModeRelaxed || capture.mode == cudaStreamCaptureModeRelaxed)
        return false;
    const bool is_global = thread_mode == cudaStreamCaptureModeGlobal && capture.mode == cudaStreamCaptureModeGlobal;
    return capture.thread == &here || is_global;
}

// All of its streams are captured no more. Its events keep that they were recorded in it.
void end(Capture *capture)
{
    for (size_t i = captured.n; i-- > 0;)
        if (captured[i].of == capture) {
            captured[i].tail.clear();
            captured.drop(i);
        }
    for (Event &each : events)
        if (each.capture == capture->id)
            each.tail.clear();
    for (size_t i = captures.n; i-- > 0;)
        if (captures[i] == capture)
            captures.drop(i);
    free(capture);
}

bool is_joined(const Capture *capture)
{
    const List<Node *> &last = find(capture->origin)->tail;
    for (const Captured &each : captured)
        for (Node *node : each.tail)
            if (each.of == capture && !reaches(last, node))
                return false;
    return true;
}

cudaError_t why_not_ended(const Captured *there)
{
    if (!there)
        return cudaErrorIllegalState;
    if (there->of->origin != there->stream)
        return invalidate(there->of, cudaErrorStreamCaptureUnmatched);
    if (there->of->mode != cudaStreamCaptureModeRelaxed && there->of->thread != &here)
        return invalidate(there->of, cudaErrorStreamCaptureWrongThread);
    return cudaSuccess;
}

// The stream is captured, too, from now on.
cudaError_t join(cudaStream_t stream, Capture *capture, const Event &event)
{
    if (is_legacy(stream)) {
        const cudaError_t status = check_legacy();
        return status ? status : invalidate(capture, cudaErrorStreamCaptureUnsupported);
    }
    if (!is_stream(stream))
        return cudaErrorInvalidResourceHandle;
    Captured made = {stream, capture, {}};
    made.tail.add_all(event.tail);
    captured.add(made);
    return cudaSuccess;
}

cudaError_t wait_captured(cudaStream_t stream, Captured *there, const Event &event)
{
    Capture *capture = find(event.capture);
    if (there && there->of == capture) {
        there->tail.add_all(event.tail);
        return cudaSuccess;
    }
    if (there) {
        if (capture)
            capture->is_valid = false;
        return invalidate(there->of, capture ? cudaErrorStreamCaptureMerge : cudaErrorCapturedEvent);
    }
    if (!capture || !capture->is_valid)
        return capture ? cudaErrorInvalidValue : cudaErrorCapturedEvent;
    return join(stream, capture, event);
}

} // namespace

cudaError_t enter(cudaStream_t stream, Graph **graph)
{
    Turn turn;
    *graph = nullptr;
    const Captured *there = find(stream);
    if (!there)
        return is_legacy(stream) ? check_legacy() : cudaSuccess;
    if (!there->of->is_valid)
        return cudaErrorStreamCaptureInvalidated;
    *graph = there->of->graph;
    return cudaSuccess;
}
cudaError_t check_supported(cudaStream_t stream)
{
    Turn turn;
    Graph *graph;
    const cudaError_t status = enter(stream, &graph);
    return graph ? invalidate(find(stream)->of, cudaErrorStreamCaptureUnsupported) : status;
}
cudaError_t check_wait(cudaStream_t stream)
{
    Turn turn;
    const cudaError_t status = check_supported(stream);
    return status ? status : check_unsafe();
}
cudaError_t check_wait(cudaEvent_t event)
{
    Turn turn;
    const Event *there = find(event);
    if (!there)
        return cudaErrorInvalidResourceHandle;
    if (const cudaError_t status = check_unsafe())
        return status;
    if (Capture *capture = find(there->capture))
        capture->is_valid = false;
    return there->capture ? cudaErrorCapturedEvent : cudaSuccess;
}
cudaError_t check_device_wait()
{
    Turn turn;
    cudaError_t status = cudaSuccess;
    for (Capture *each : captures)
        status = invalidate(each, cudaErrorStreamCaptureUnsupported);
    return status;
}
cudaError_t check_host_wait()
{
    Turn turn;
    const cudaError_t status = check_legacy();
    return status ? status : check_unsafe();
}
cudaError_t check_unsafe()
{
    Turn turn;
    cudaError_t status = cudaSuccess;
    for (Capture *each : captures)
        if (is_unsafe_in(*each))
            status = invalidate(each, cudaErrorStreamCaptureUnsupported);
    return status;
}

List<Node *> *tail_of(cudaStream_t stream)
{
    Captured *there = find(stream);
    return there ? &there->tail : nullptr;
}

cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    Turn turn;
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed)
        return cudaErrorInvalidValue;
    if (is_legacy(stream))
        return cudaErrorStreamCaptureUnsupported;
    if (!is_stream(stream))
        return cudaErrorInvalidResourceHandle;
    if (find(stream))
        return cudaErrorIllegalState;
    Capture *made = (Capture *)calloc(1, sizeof *made);
    *made = {++n_captures, new_graph(), stream, mode, &here, true};
    captures.add(made);
    captured.add({stream, made, {}});
    return cudaSuccess;
}

cudaError_t end_capture(cudaStream_t stream, cudaGraph_t *made)
{
    Turn turn;
    if (!made)
        return cudaErrorInvalidValue;
    *made = nullptr;
    const Captured *there = find(stream);
    if (const cudaError_t status = why_not_ended(there))
        return status;
    Capture *capture = there->of;
    Graph *graph = capture->graph;
    const cudaError_t status = !capture->is_valid   ? cudaErrorStreamCaptureInvalidated
                               : is_joined(capture) ? cudaSuccess
                                                    : cudaErrorStreamCaptureUnjoined;
    end(capture);
    if (status)
        destroy(graph);
    else
        *made = graph;
    return status;
}

void leave_captures(cudaStream_t stream)
{
    Turn turn;
    Captured *there = find(stream);
    if (!there)
        return;
    Capture *capture = there->of;
    if (capture->origin == stream) { // nobody could end it
        destroy(capture->graph);
        end(capture);
        return;
    }
    capture->is_valid = false;
    there->tail.clear();
    captured.drop(there - captured.items);
}

void add_event(cudaEvent_t event, unsigned flags)
{
    Turn turn;
    while (events.n < (unsigned long long)event)
        events.add({});
    events[(unsigned long long)event - 1] = {true, false, flags, 0, {}};
}
cudaError_t drop_event(cudaEvent_t event)
{
    Turn turn;
    Event *there = find(event);
    if (!there)
        return cudaErrorInvalidResourceHandle;
    there->tail.clear();
    there->is_there = false;
    return cudaSuccess;
}
cudaError_t record(cudaEvent_t event, cudaStream_t stream)
{
    Turn turn;
    Event *there = find(event);
    if (!there)
        return cudaErrorInvalidResourceHandle;
    Graph *graph;
    const cudaError_t status = enter(stream, &graph);
    if (status || !graph)
        return status ? status : record_now(event, stream);
    const Captured *in = find(stream);
    note(there, in->of->id, in->tail);
    return cudaSuccess;
}
cudaError_t record_now(cudaEvent_t event, cudaStream_t stream)
{
    Turn turn;
    const cudaError_t status = ask(Call::record, (unsigned long long)event, number(stream)).status;
    Event *there = find(event); // null: it is one of a graph's own
    if (!status && there)
        note(there, 0, {});
    return status;
}
cudaError_t wait(cudaStream_t stream, cudaEvent_t event)
{
    Turn turn;
    const Event *of = find(event);
    if (!of)
        return cudaErrorInvalidResourceHandle;
    Captured *there = find(stream);
    if (there && !there->of->is_valid)
        return cudaErrorStreamCaptureInvalidated;
    if (of->capture)
        return wait_captured(stream, there, *of);
    if (there)
        return invalidate(there->of, cudaErrorStreamCaptureIsolation);
    const cudaError_t status = is_legacy(stream) ? check_legacy() : cudaSuccess;
    return status ? status : ask(Call::wait, (unsigned long long)event, number(stream)).status;
}
cudaError_t check_timed(cudaEvent_t event)
{
    Turn turn;
    const Event *there = find(event);
    if (!there || !there->is_recorded || there->flags & cudaEventDisableTiming)
        return cudaErrorInvalidResourceHandle;
    return there->capture ? cudaErrorCapturedEvent : cudaSuccess;
}

} // namespace gpuprof

using namespace gpuprof;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) { return result(begin_capture(stream, mode)); }
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    const cudaError_t status = result(end_capture(stream, graph));
    if (status && graph)
        *graph = nullptr; // also where the context is lost
    return status;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode)
{
    if (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed)
        return result(cudaErrorInvalidValue);
    const cudaStreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return result(cudaSuccess);
}

// Looking does no harm: no capture is invalidated.
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **tail, const cudaGraphEdgeData **edges, size_t *n_tail)
{
    Turn turn;
    if (!status || !is_stream(stream))
        return result(status ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    for (const Captured &each : captured)
        if (is_legacy(stream) && is_blocking(each.stream))
            return result(cudaErrorStreamCaptureImplicit);
    const Captured *there = find(stream);
    const bool is_active = there && there->of->is_valid;
    *status = is_active ? cudaStreamCaptureStatusActive : there ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusNone;
    if (id && is_active)
        *id = there->of->id;
    if (graph && is_active)
        *graph = there->of->graph;
    if (tail && is_active)
        *tail = there->tail.items;
    if (edges && is_active)
        *edges = nullptr; // all of them are of the usual kind
    if (n_tail && is_active)
        *n_tail = there->tail.n;
    return result(cudaSuccess);
}
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **tail, size_t *n_tail)
{
    return cudaStreamGetCaptureInfo(stream, status, id, graph, tail, nullptr, n_tail);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    return cudaStreamGetCaptureInfo(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}
}
