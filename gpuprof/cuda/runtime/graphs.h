// Graphs: what a captured stream was asked, or the program has put together, to be done as often as it is launched.
#pragma once

#include "copies.h"
#include "launches.h"
#include "list.h"

namespace gpuprof {

typedef CUgraph_st Graph;

Graph *captured_by(cudaStream_t stream); // null: the stream does what it is asked

// Of a captured stream.
cudaError_t add_copy(Graph *graph, cudaStream_t stream, void *to, const void *from, size_t nbytes, cudaMemcpyKind kind);
cudaError_t add_fill(Graph *graph, cudaStream_t stream, void *p, int value, size_t nbytes);
cudaError_t add_fill_words(Graph *graph, cudaStream_t stream, Side side, Box box, unsigned value, unsigned element_nbytes);
cudaError_t add_launch(Graph *graph, cudaStream_t stream, const Launch &launch);
cudaError_t add_host(Graph *graph, cudaStream_t stream, cudaHostFn_t function, void *data);
void note_event(cudaEvent_t event, cudaStream_t stream);           // it is after what the graph has so far
bool waits_for_captured(cudaStream_t stream, cudaEvent_t event); // the stream joins the capture of the event's
bool is_waiting_refused(); // a capture is under way during which this thread may not wait for the device

} // namespace gpuprof
