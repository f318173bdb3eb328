// Nodes of any kind by one call, nodes that depend on a word in memory, and objects that graphs keep.
#include "graph_nodes.h"
#include "arena.h"

struct CUuserObject_st {
    void *p;
    cudaHostFn_t destroy;
    unsigned n;
};

namespace gpuprof {
namespace {

void let_go(cudaUserObject_t object, unsigned n)
{
    object->n -= n;
    if (object->n)
        return;
    object->destroy(object->p);
    free(object);
}

cudaError_t read_word(const char *p, cudaStream_t stream, unsigned *value)
{
    const Reply reply = ask(Call::read_word, p, number(stream));
    *value = (unsigned)reply.words[read_word_gives::value];
    return reply.status;
}

} // namespace

void drop_objects(Graph *graph)
{
    for (const Held &each : graph->objects)
        let_go(each.object, each.n);
    graph->objects.clear();
}

void hold_objects(Graph *of)
{
    for (const Held &each : of->objects)
        each.object->n += each.n;
}

void reset_conditions(Graph *graph, cudaStream_t stream)
{
    for (const Condition &each : graph->conditions)
        if (each.is_reset)
            ask(Call::write_word, each.word->p, each.first, number(stream));
    for (const Node *node : graph->nodes) {
        if (node->child)
            reset_conditions(node->child, stream);
        for (unsigned i = 0; i < node->conditional.size; ++i)
            reset_conditions(node->conditional.phGraph_out[i], stream);
    }
}

// What the word says is known when its stream's requests are emulated: the host of the program does not wait.
cudaError_t do_conditional(const Node &node, cudaStream_t stream)
{
    const cudaConditionalNodeParams &how = node.conditional;
    for (bool is_first = true;; is_first = false) {
        unsigned value;
        if (const cudaError_t status = read_word((const char *)how.handle, stream, &value))
            return status;
        if (how.type != cudaGraphCondTypeWhile && !is_first)
            return cudaSuccess;
        // `if` has a second graph for 0, `while` ends there; `switch` has none for larger values.
        const unsigned which = how.type == cudaGraphCondTypeSwitch ? value : value ? 0 : how.type == cudaGraphCondTypeIf ? 1 : how.size;
        if (which >= how.size)
            return cudaSuccess;
        if (const cudaError_t status = run_all(how.phGraph_out[which], stream))
            return status;
    }
}

} // namespace gpuprof

using namespace gpuprof;

namespace {

bool is_condition(const Graph *graph, cudaGraphConditionalHandle handle)
{
    for (const Condition &each : graph->conditions)
        if ((cudaGraphConditionalHandle)each.word->p == handle)
            return true;
    return false;
}

cudaError_t add_conditional(cudaGraphNode_t *node, Graph *graph, const cudaGraphNode_t *before, size_t n, cudaConditionalNodeParams *how)
{
    const unsigned most = how->type == cudaGraphCondTypeIf ? 2 : how->type == cudaGraphCondTypeWhile ? 1 : ~0u;
    if ((unsigned)how->type > cudaGraphCondTypeSwitch || !how->size || how->size > most || !is_device((void *)how->handle))
        return cudaErrorInvalidValue;
    if (!add_node(node, graph, before, n, cudaGraphNodeTypeConditional))
        return cudaErrorInvalidValue;
    how->phGraph_out = (cudaGraph_t *)calloc(how->size, sizeof(cudaGraph_t));
    for (unsigned i = 0; i < how->size; ++i)
        how->phGraph_out[i] = new_graph();
    (*node)->conditional = *how;
    return cudaSuccess;
}

cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaGraphNodeParams *how)
{
    if (!how)
        return cudaErrorInvalidValue;
    switch (how->type) {
    case cudaGraphNodeTypeKernel: return cudaGraphAddKernelNode(node, graph, before, n, &how->kernel);
    case cudaGraphNodeTypeMemcpy: return cudaGraphAddMemcpyNode(node, graph, before, n, &how->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return cudaGraphAddMemsetNode(node, graph, before, n, &how->memset);
    case cudaGraphNodeTypeHost: return cudaGraphAddHostNode(node, graph, before, n, &how->host);
    case cudaGraphNodeTypeGraph: return cudaGraphAddChildGraphNode(node, graph, before, n, how->graph.graph);
    case cudaGraphNodeTypeEmpty: return cudaGraphAddEmptyNode(node, graph, before, n);
    case cudaGraphNodeTypeWaitEvent: return cudaGraphAddEventWaitNode(node, graph, before, n, how->eventWait.event);
    case cudaGraphNodeTypeEventRecord: return cudaGraphAddEventRecordNode(node, graph, before, n, how->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: return cudaGraphAddMemAllocNode(node, graph, before, n, &how->alloc);
    case cudaGraphNodeTypeMemFree: return cudaGraphAddMemFreeNode(node, graph, before, n, how->free.dptr);
    case cudaGraphNodeTypeConditional: return add_conditional(node, graph, before, n, &how->conditional);
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait: return not_supported("external semaphores");
    default: return cudaErrorInvalidValue;
    }
}

cudaError_t set(Node *node, cudaGraphNodeParams *how)
{
    if (!node || !how || node->type != how->type)
        return cudaErrorInvalidValue;
    switch (how->type) {
    case cudaGraphNodeTypeKernel: return set_launch(node, &how->kernel);
    case cudaGraphNodeTypeMemcpy: return set_copy(node, &how->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return set_fill(node, &how->memset);
    case cudaGraphNodeTypeHost: return set_call(node, &how->host);
    case cudaGraphNodeTypeGraph: return set_child(node, how->graph.graph);
    case cudaGraphNodeTypeWaitEvent: node->event = how->eventWait.event; return cudaSuccess;
    case cudaGraphNodeTypeEventRecord: node->event = how->eventRecord.event; return cudaSuccess;
    default: return cudaErrorInvalidValue; // as CUDA: these have nothing that could be set
    }
}

} // namespace

extern "C" {

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaGraphNodeParams *how)
{
    return result(add(node, graph, before, n, how));
}
cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, const cudaGraphEdgeData *edges, size_t n,
                                cudaGraphNodeParams *how)
{
    for (size_t i = 0; edges && i < n; ++i)
        if (edges[i].from_port || edges[i].to_port || edges[i].type)
            return result(not_supported("an edge that is programmatic"));
    return result(add(node, graph, before, n, how));
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams *how) { return result(set(node, how)); }
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams *how)
{
    return result(updated(set(twin_in(exec, node), how)));
}
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *made, cudaGraph_t graph, unsigned int first, unsigned int flags)
{
    if (!made || !graph || flags > cudaGraphCondAssignDefault)
        return result(cudaErrorInvalidValue);
    void *word;
    const cudaError_t status = allocate(&word, sizeof first, device_memory, "cudaGraphConditionalHandleCreate");
    if (status || is_condition(graph, (cudaGraphConditionalHandle)word))
        return result(status);
    Shared *shared = (Shared *)malloc(sizeof *shared);
    *shared = {(char *)word, sizeof first, 1};
    graph->conditions.add({shared, first, flags == cudaGraphCondAssignDefault});
    *made = (cudaGraphConditionalHandle)word;
    return result(ask_with(Payload{&first, sizeof first}, nullptr, Call::copy_in, word, 0, 0).status);
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t *made, void *p, cudaHostFn_t destroy, unsigned int n, unsigned int flags)
{
    if (!made || !destroy || !n || flags != cudaUserObjectNoDestructorSync)
        return result(cudaErrorInvalidValue);
    *made = (cudaUserObject_t)malloc(sizeof **made);
    **made = {p, destroy, n};
    return result(cudaSuccess);
}
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int n)
{
    if (object)
        object->n += n;
    return result_if(object && n);
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int n)
{
    if (!object || !n || n > object->n)
        return result(cudaErrorInvalidValue);
    let_go(object, n);
    return result(cudaSuccess);
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int n, unsigned int flags)
{
    if (!graph || !object || !n || flags > cudaGraphUserObjectMove)
        return result(cudaErrorInvalidValue);
    graph->objects.add({object, n});
    object->n += flags == cudaGraphUserObjectMove ? 0 : n;
    return result(cudaSuccess);
}
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int n)
{
    if (graph)
        for (size_t i = 0; i < graph->objects.n; ++i) {
            Held &held = graph->objects[i];
            if (held.object != object || n > held.n)
                continue;
            held.n -= n;
            if (!held.n)
                graph->objects.drop(i);
            let_go(object, n);
            return result(cudaSuccess);
        }
    return result(cudaErrorInvalidValue);
}
}
