// Captures of streams: what one forbids, and what becomes of it then. See docs/programs-errors.md for the rules.
#pragma once

#include "channel.h"
#include "list.h"
#include "runtime_graphs.h"

namespace gpuprof {

typedef CUgraph_st Graph;
typedef CUgraphNode_st Node;

// Each of these gives the error that a capture makes of a call, and invalidates the captures concerned.

// Of all that a stream is given to do. `graph`: what it is captured into, null where the stream does it.
cudaError_t enter(cudaStream_t stream, Graph **graph);
// Before the host waits for a stream or an event, or asks how far it is.
cudaError_t check_wait(cudaStream_t stream);
cudaError_t check_wait(cudaEvent_t event);
cudaError_t check_device_wait();
cudaError_t check_host_wait(); // of a call without a stream: it waits for the legacy stream
cudaError_t check_unsafe();    // of a call that no stream orders, so no capture sees it
cudaError_t check_supported(cudaStream_t stream); // of what a stream does that no graph can have

List<Node *> *tail_of(cudaStream_t stream); // what its next node waits for; within a Turn, null where it is not captured

cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t end_capture(cudaStream_t stream, cudaGraph_t *made);
void leave_captures(cudaStream_t stream); // it is destroyed

// Events, by what was recorded in them last.
void add_event(cudaEvent_t event, unsigned flags);
cudaError_t drop_event(cudaEvent_t event);
cudaError_t record(cudaEvent_t event, cudaStream_t stream);
cudaError_t record_now(cudaEvent_t event, cudaStream_t stream); // of a stream that is not captured
cudaError_t wait(cudaStream_t stream, cudaEvent_t event);
cudaError_t check_timed(cudaEvent_t event); // whether it has a time

} // namespace gpuprof
