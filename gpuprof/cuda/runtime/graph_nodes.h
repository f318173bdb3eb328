// What graphs are made of.
#pragma once

#include "arrays.h"
#include "graphs.h"
#include "runtime_graph_nodes.h"

namespace gpuprof {

struct HostCopy {
    Side to, from;
    Box box;
    cudaMemcpyKind kind;
};
struct HostFill {
    Side side;
    Box box;
    unsigned value, element_nbytes;
};
struct HostCall {
    cudaHostFn_t function;
    void *data;
};

// Memory of the device that a node or a condition has, and its copies share.
struct Shared {
    char *p;
    size_t nbytes;
    int n_owners;
};
struct Condition {
    Shared *word;
    unsigned first;
    bool is_reset; // at each launch
};
struct Held {
    cudaUserObject_t object;
    unsigned n;
};

} // namespace gpuprof

struct CUgraphNode_st {
    CUgraph_st *graph;
    cudaGraphNodeType type;
    gpuprof::List<CUgraphNode_st *> before;
    gpuprof::Launch launch;
    const void *function; // of a launch, as the program gave it
    void **arguments;     // places of the parameters, once the program wants them
    gpuprof::List<cudaLaunchAttribute> attributes;
    gpuprof::HostCopy copy;
    cudaMemcpy3DParms copy_how; // as the program gave it
    gpuprof::HostFill fill;
    cudaMemsetParams fill_how;
    gpuprof::HostCall host;
    cudaEvent_t event;
    cudaMemAllocNodeParams alloc;
    gpuprof::Shared *memory;
    void *freed;
    cudaConditionalNodeParams conditional; // with the graphs of its own
    bool is_disabled;
    CUgraph_st *child;        // its own copy
    CUgraphNode_st *twin;     // in what was made of the graph last
    CUgraphNode_st *original; // that it is a twin of
    size_t number;            // in a plan
};
struct CUgraph_st {
    gpuprof::List<CUgraphNode_st *> nodes; // each after all that it waits for, once it is sorted
    gpuprof::List<gpuprof::Condition> conditions;
    gpuprof::List<gpuprof::Held> objects;
};

namespace gpuprof {

// The streams that a graph is done on: stream 0 is the one that it is launched on.
struct Plan {
    List<cudaStream_t> streams;
    List<cudaEvent_t> events; // after each node, null where no other node waits
    List<size_t> stream_of;   // by node
};

// A node of a graph that the program puts together, or null.
Node *add_node(cudaGraphNode_t *made, Graph *graph, const cudaGraphNode_t *before, size_t n, cudaGraphNodeType type);
void remove_node(Node *node);
bool sort(Graph *graph); // false: nodes wait for each other
Graph *copy_of(Graph *graph);
Node *twin_in(cudaGraphExec_t exec, cudaGraphNode_t node); // null: the node is none of what it was made of

cudaError_t set_launch(Node *node, const cudaKernelNodeParams *how);
cudaError_t set_copy(Node *node, const cudaMemcpy3DParms *how);
cudaError_t set_fill(Node *node, const cudaMemsetParams *how);
cudaError_t set_call(Node *node, const cudaHostNodeParams *how);
cudaError_t set_child(Node *node, Graph *child);
void set_flat_copy(Node *node, void *to, const void *from, size_t nbytes, cudaMemcpyKind kind);
void set_box_copy(Node *node, const Side &to, const Side &from, const Box &box, cudaMemcpyKind kind);
cudaError_t updated(cudaError_t status); // after a node of an executable graph was set, or not: the host has had its work

// Those of each kind of node that is no launch, copy, fill or call.
cudaError_t do_conditional(const Node &node, cudaStream_t stream);
cudaError_t run_all(Graph *graph, cudaStream_t stream);
void reset_conditions(Graph *graph, cudaStream_t stream);
void share(Shared *memory);
void give_up(Shared *memory); // it is freed with its last owner
void drop_objects(Graph *graph);
void hold_objects(Graph *of); // for one more graph

} // namespace gpuprof

struct CUgraphExec_st {
    CUgraph_st *graph;
    gpuprof::Plan plan;
    unsigned long long flags;
};
