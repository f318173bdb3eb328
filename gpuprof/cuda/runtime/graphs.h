// Graphs: what a captured stream was asked, or the program has put together, to be done as often as it is launched.
#pragma once

#include "captures.h"
#include "copies.h"
#include "launches.h"

namespace gpuprof {

Graph *new_graph();
void destroy(Graph *graph);
bool reaches(const List<Node *> &from, Node *wanted); // going from nodes to those that they wait for

// Of a captured stream.
cudaError_t add_copy(Graph *graph, cudaStream_t stream, void *to, const void *from, size_t nbytes, cudaMemcpyKind kind);
cudaError_t add_copy_box(Graph *graph, cudaStream_t stream, Side to, Side from, Box box, cudaMemcpyKind kind);
cudaError_t add_fill(Graph *graph, cudaStream_t stream, void *p, int value, size_t nbytes);
cudaError_t add_fill_words(Graph *graph, cudaStream_t stream, Side side, Box box, unsigned value, unsigned element_nbytes);
cudaError_t add_launch(Graph *graph, cudaStream_t stream, const Launch &launch);
cudaError_t add_host(Graph *graph, cudaStream_t stream, cudaHostFn_t function, void *data);

} // namespace gpuprof
