// What graphs are made of, and how they are done: each chain of nodes on a stream of its own.
#include "graphs.h"
#include "copies.h"
#include "runtime_graphs.h"

namespace gpuprof {
namespace {

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

} // namespace
} // namespace gpuprof

struct CUgraphNode_st {
    CUgraph_st *graph;
    cudaGraphNodeType type;
    gpuprof::List<CUgraphNode_st *> before;
    gpuprof::Launch launch;
    gpuprof::HostCopy copy;
    gpuprof::HostFill fill;
    gpuprof::HostCall host;
    CUgraph_st *child; // its own copy
    CUgraphNode_st *twin; // in what was made of the graph last
    size_t number;        // in a plan
};
struct CUgraph_st {
    gpuprof::List<CUgraphNode_st *> nodes; // each after all that it waits for, once it is sorted
};

namespace gpuprof {
namespace {

Node *new_node(Graph *graph, cudaGraphNodeType type)
{
    Node *node = (Node *)calloc(1, sizeof *node);
    node->graph = graph;
    node->type = type;
    graph->nodes.add(node);
    return node;
}

Node *next_of(Graph *graph, cudaStream_t stream, cudaGraphNodeType type)
{
    Node *node = new_node(graph, type);
    Turn turn;
    List<Node *> *tail = tail_of(stream);
    node->before.add_all(*tail);
    tail->clear();
    tail->add(node);
    return node;
}

Launch copy_of(const Launch &launch)
{
    Launch made = launch;
    if (launch.params) {
        made.params = (char *)malloc(launch.kernel->params_nbytes + 1);
        memcpy(made.params, launch.params, launch.kernel->params_nbytes);
    }
    return made;
}

Graph *copy_of(Graph *graph)
{
    Graph *made = new_graph();
    for (Node *node : graph->nodes) {
        Node *twin = node->twin = new_node(made, node->type);
        const List<Node *> none = twin->before;
        *twin = *node;
        twin->graph = made;
        twin->before = none;
        twin->launch = copy_of(node->launch);
        twin->child = node->child ? copy_of(node->child) : nullptr;
    }
    for (Node *node : graph->nodes)
        for (Node *before : node->before)
            node->twin->before.add(before->twin);
    return made;
}

// Each node after those that it waits for. False: they wait for each other.
bool sort(Graph *graph)
{
    List<Node *> sorted = {};
    for (size_t n = 0; sorted.n < graph->nodes.n; n = sorted.n) {
        for (Node *node : graph->nodes) {
            bool is_ready = !sorted.has(node);
            for (Node *before : node->before)
                is_ready = is_ready && sorted.has(before);
            if (is_ready)
                sorted.add(node);
        }
        if (sorted.n == n) {
            sorted.clear();
            return false;
        }
    }
    graph->nodes.clear();
    graph->nodes = sorted;
    return true;
}

bool take_part(Node *node, Graph *graph, const cudaGraphNode_t *before, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        if (!before[i] || before[i]->graph != graph)
            return false;
        node->before.add(before[i]);
    }
    return true;
}

// A node of a graph that the program puts together, or null.
Node *add_node(cudaGraphNode_t *made, Graph *graph, const cudaGraphNode_t *before, size_t n, cudaGraphNodeType type)
{
    if (!graph || !made || (n && !before))
        return nullptr;
    Node *node = new_node(graph, type);
    if (take_part(node, graph, before, n))
        return *made = node;
    node->before.clear();
    --graph->nodes.n;
    free(node);
    return nullptr;
}

cudaError_t set_launch(Node *node, const cudaKernelNodeParams *how)
{
    if (!node || node->type != cudaGraphNodeTypeKernel || !how || how->extra)
        return cudaErrorInvalidValue;
    cudaError_t status;
    const Kernel *kernel = kernel_of(how->func, &status);
    Launch made;
    if (kernel)
        status = prepare(&made, kernel, how->gridDim, how->blockDim, how->kernelParams, nullptr, 0, how->sharedMemBytes, 0);
    if (status)
        return status;
    discard(&node->launch);
    node->launch = made;
    return cudaSuccess;
}

// The streams that a graph is done on: stream 0 is the one that it is launched on.
struct Plan {
    List<cudaStream_t> streams;
    List<cudaEvent_t> events; // after each node, null where no other node waits
    List<size_t> stream_of;   // by node
};

cudaError_t new_stream(Plan *plan)
{
    const Reply reply = ask(Call::make_stream, 0, 1); // which the plan orders, and nothing else
    plan->streams.add((cudaStream_t)reply.words[make_stream_gives::stream]);
    return reply.status;
}
cudaError_t new_event(cudaEvent_t *event)
{
    const Reply reply = ask(Call::make_event);
    *event = (cudaEvent_t)reply.words[make_event_gives::event];
    return reply.status;
}

} // namespace
} // namespace gpuprof

struct CUgraphExec_st {
    CUgraph_st *graph, *source;
    gpuprof::Plan plan;
};

namespace gpuprof {
namespace {

// A node continues the stream of the first one that it waits for, if that is its last; else it has its own stream.
cudaError_t make_plan(CUgraphExec_st *exec)
{
    Plan &plan = exec->plan;
    List<Node *> last = {}; // by stream
    plan.streams.add(nullptr);
    cudaError_t status = cudaSuccess;
    for (size_t i = 0; i < exec->graph->nodes.n && !status; ++i) {
        Node *node = exec->graph->nodes[i];
        node->number = i;
        size_t stream = last.n;
        for (Node *before : node->before)
            if (stream == last.n && last[plan.stream_of[before->number]] == before)
                stream = plan.stream_of[before->number];
        if (stream == last.n) {
            last.add(node);
            status = stream ? new_stream(&plan) : cudaSuccess;
        }
        last[stream] = node;
        plan.stream_of.add(stream);
        plan.events.add(nullptr);
        for (Node *before : node->before)
            if (plan.stream_of[before->number] != stream && !plan.events[before->number] && !status)
                status = new_event(&plan.events[before->number]);
    }
    for (size_t stream = 1; stream < last.n && !status; ++stream) // the launch's stream waits for the others
        if (!plan.events[last[stream]->number])
            status = new_event(&plan.events[last[stream]->number]);
    last.clear();
    return status;
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream) { return ask(Call::record, (unsigned long long)event, number(stream)).status; }
cudaError_t wait(cudaStream_t stream, cudaEvent_t event) { return ask(Call::wait, (unsigned long long)event, number(stream)).status; }

cudaError_t call_host(const HostCall &call)
{
    const cudaError_t status = ask(Call::synchronize, Waits::nothing, 0).status;
    if (!status) {
        TheirTurn turn;
        call.function(call.data);
    }
    return status;
}

cudaError_t fill_elements(const HostFill &how, cudaStream_t stream)
{
    const unsigned byte = how.value & 0xff;
    if (how.element_nbytes == 1 || how.value == byte * (how.element_nbytes == 2 ? 0x101u : 0x1010101u))
        return fill_box(how.side, (int)byte, how.box, stream);
    return ask(Call::fill_words, how.side.base, how.box.nbytes, how.value, how.element_nbytes, how.side.row, how.box.rows, number(stream)).status;
}

cudaError_t do_node(const Node &node, cudaStream_t stream)
{
    switch (node.type) {
    case cudaGraphNodeTypeKernel: return start(node.launch, stream);
    case cudaGraphNodeTypeMemcpy: return copy_box(node.copy.to, node.copy.from, node.copy.box, node.copy.kind, stream);
    case cudaGraphNodeTypeMemset: return fill_elements(node.fill, stream);
    case cudaGraphNodeTypeHost: return call_host(node.host);
    case cudaGraphNodeTypeGraph: {
        cudaError_t status = cudaSuccess;
        for (Node *each : node.child->nodes)
            status = status ? status : do_node(*each, stream);
        return status;
    }
    case cudaGraphNodeTypeEmpty: return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

cudaError_t run(CUgraphExec_st *exec, cudaStream_t stream)
{
    Plan &plan = exec->plan;
    cudaEvent_t begin = nullptr;
    cudaError_t status = cudaSuccess;
    if (plan.streams.n > 1) {
        status = new_event(&begin);
        status = status ? status : record(begin, stream);
        for (size_t i = 1; i < plan.streams.n && !status; ++i)
            status = wait(plan.streams[i], begin);
    }
    plan.streams[0] = stream;
    for (size_t i = 0; i < exec->graph->nodes.n && !status; ++i) {
        const Node &node = *exec->graph->nodes[i];
        const size_t its = plan.stream_of[i];
        for (Node *before : node.before)
            if (plan.stream_of[before->number] != its && !status)
                status = wait(plan.streams[its], plan.events[before->number]);
        status = status ? status : do_node(node, plan.streams[its]);
        if (plan.events[i] && !status)
            status = record(plan.events[i], plan.streams[its]);
    }
    for (size_t i = 0; i < plan.events.n && !status; ++i)
        if (plan.events[i] && plan.stream_of[i])
            status = wait(stream, plan.events[i]);
    return status;
}

cudaError_t destroy(CUgraphExec_st *exec)
{
    cudaError_t status = cudaSuccess;
    OneCall whole;
    for (size_t i = 1; i < exec->plan.streams.n; ++i)
        if (const cudaError_t failed = ask(Call::destroy_stream, number(exec->plan.streams[i])).status)
            status = failed;
    exec->plan.streams.clear();
    exec->plan.events.clear();
    exec->plan.stream_of.clear();
    free_graph(exec->graph);
    free(exec);
    return status;
}

bool is_alike(Graph *a, Graph *b)
{
    bool is_so = a->nodes.n == b->nodes.n;
    for (size_t i = 0; is_so && i < a->nodes.n; ++i) {
        const Node &one = *a->nodes[i], &other = *b->nodes[i];
        is_so = one.type == other.type && one.before.n == other.before.n && one.launch.kernel == other.launch.kernel;
        for (size_t j = 0; is_so && j < one.before.n; ++j)
            is_so = one.before[j]->number == other.before[j]->number;
    }
    return is_so;
}

template <typename T> cudaError_t give_list(const List<T> &from, T *to, size_t *n)
{
    if (!n)
        return cudaErrorInvalidValue;
    for (size_t i = 0; to && i < *n && i < from.n; ++i)
        to[i] = from[i];
    if (!to || *n > from.n)
        *n = from.n;
    return cudaSuccess;
}

} // namespace

void free_graph(Graph *graph)
{
    for (Node *node : graph->nodes) {
        discard(&node->launch);
        node->before.clear();
        if (node->child)
            free_graph(node->child);
        free(node);
    }
    graph->nodes.clear();
    free(graph);
}

Graph *new_graph() { return (Graph *)calloc(1, sizeof(Graph)); }

// Each node is looked at once: graphs that fork and join again and again have very many ways through them.
bool reaches(const List<Node *> &from, Node *wanted)
{
    List<Node *> seen = {};
    seen.add_all(from);
    for (size_t i = 0; i < seen.n && !seen.has(wanted); ++i)
        seen.add_all(seen[i]->before);
    const bool is_there = seen.has(wanted);
    seen.clear();
    return is_there;
}

cudaError_t add_copy(Graph *graph, cudaStream_t stream, void *to, const void *from, size_t nbytes, cudaMemcpyKind kind)
{
    Node *node = next_of(graph, stream, cudaGraphNodeTypeMemcpy);
    node->copy = {{(char *)to, 0, 0}, {(char *)from, 0, 0}, {nbytes, 1, 1}, kind};
    return cudaSuccess;
}
cudaError_t add_fill(Graph *graph, cudaStream_t stream, void *p, unsigned value, unsigned element_nbytes, size_t nbytes)
{
    next_of(graph, stream, cudaGraphNodeTypeMemset)->fill = {{(char *)p, 0, 0}, {nbytes, 1, 1}, value, element_nbytes};
    return cudaSuccess;
}
cudaError_t add_launch(Graph *graph, cudaStream_t stream, const Launch &launch)
{
    next_of(graph, stream, cudaGraphNodeTypeKernel)->launch = launch;
    return cudaSuccess;
}
cudaError_t add_host(Graph *graph, cudaStream_t stream, cudaHostFn_t function, void *data)
{
    next_of(graph, stream, cudaGraphNodeTypeHost)->host = {function, data};
    return cudaSuccess;
}
} // namespace gpuprof

using namespace gpuprof;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int)
{
    *graph = new_graph();
    return result(cudaSuccess);
}
cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    if (graph)
        *clone = copy_of(graph);
    return result_if(graph);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (graph)
        free_graph(graph);
    return result_if(graph);
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, const cudaKernelNodeParams *how)
{
    if (!add_node(node, graph, before, n, cudaGraphNodeTypeKernel))
        return result(cudaErrorInvalidValue);
    const cudaError_t status = set_launch(*node, how);
    if (status) {
        (*node)->before.clear();
        free(*node);
        --graph->nodes.n;
    }
    return result(status);
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, const cudaMemcpy3DParms *how)
{
    if (!how || how->srcArray || how->dstArray)
        return result(how ? cudaErrorNotSupported : cudaErrorInvalidValue);
    if (!add_node(node, graph, before, n, cudaGraphNodeTypeMemcpy))
        return result(cudaErrorInvalidValue);
    const cudaPitchedPtr &to = how->dstPtr, &from = how->srcPtr;
    const cudaPos &at = how->dstPos, &of = how->srcPos;
    const size_t to_slice = to.pitch * to.ysize, from_slice = from.pitch * from.ysize;
    (*node)->copy = {{(char *)to.ptr + at.z * to_slice + at.y * to.pitch + at.x, to.pitch, to_slice},
                     {(char *)from.ptr + of.z * from_slice + of.y * from.pitch + of.x, from.pitch, from_slice},
                     {how->extent.width, how->extent.height, how->extent.depth},
                     how->kind};
    return result(cudaSuccess);
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, void *to, const void *from,
                                     size_t nbytes, cudaMemcpyKind kind)
{
    if (!add_node(node, graph, before, n, cudaGraphNodeTypeMemcpy))
        return result(cudaErrorInvalidValue);
    (*node)->copy = {{(char *)to, 0, 0}, {(char *)from, 0, 0}, {nbytes, 1, 1}, kind};
    return result(cudaSuccess);
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, const cudaMemsetParams *how)
{
    const unsigned element = how ? how->elementSize : 0;
    if ((element != 1 && element != 2 && element != 4) || !add_node(node, graph, before, n, cudaGraphNodeTypeMemset))
        return result(cudaErrorInvalidValue);
    const size_t pitch = how->height > 1 ? how->pitch : how->width * element;
    const unsigned value = element == 4 ? how->value : how->value & ((1u << 8 * element) - 1);
    (*node)->fill = {{(char *)how->dst, pitch, 0}, {how->width * element, how->height, 1}, value, element};
    return result(cudaSuccess);
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, const cudaHostNodeParams *how)
{
    if (!how || !how->fn || !add_node(node, graph, before, n, cudaGraphNodeTypeHost))
        return result(cudaErrorInvalidValue);
    (*node)->host = {how->fn, how->userData};
    return result(cudaSuccess);
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaGraph_t child)
{
    if (!child || !sort(child) || !add_node(node, graph, before, n, cudaGraphNodeTypeGraph))
        return result(cudaErrorInvalidValue);
    (*node)->child = copy_of(child);
    return result(cudaSuccess);
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n)
{
    return result_if(add_node(node, graph, before, n, cudaGraphNodeTypeEmpty));
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        if (!to[i] || to[i]->graph != graph || !take_part(to[i], graph, from + i, 1))
            return result(cudaErrorInvalidValue);
    return result_if(graph);
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n)
{
    return result(graph ? give_list(graph->nodes, nodes, n) : cudaErrorInvalidValue);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n)
{
    if (!graph)
        return result(cudaErrorInvalidValue);
    List<Node *> roots = {};
    for (Node *node : graph->nodes)
        if (!node->before.n)
            roots.add(node);
    const cudaError_t status = give_list(roots, nodes, n);
    roots.clear();
    return result(status);
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n)
{
    if (!graph || !n)
        return result(cudaErrorInvalidValue);
    List<Node *> firsts = {}, seconds = {};
    for (Node *node : graph->nodes)
        for (Node *before : node->before) {
            firsts.add(before);
            seconds.add(node);
        }
    size_t n_too = *n;
    give_list(firsts, from, &n_too);
    give_list(seconds, to, n);
    firsts.clear();
    seconds.clear();
    return result(cudaSuccess);
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type)
{
    if (node)
        *type = node->type;
    return result_if(node);
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *how) { return result(set_launch(node, how)); }

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    *exec = nullptr;
    if (!graph || !sort(graph))
        return result(cudaErrorInvalidValue);
    OneCall whole;
    CUgraphExec_st *made = (CUgraphExec_st *)calloc(1, sizeof *made);
    made->graph = copy_of(graph);
    made->source = graph;
    const cudaError_t status = make_plan(made);
    if (status)
        destroy(made);
    else
        *exec = made;
    return result(status);
}
// The nodes of the graph that the executable one was made of are known there as their twins.
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams *how)
{
    if (!exec || !node || node->graph != exec->source)
        return result(cudaErrorInvalidValue);
    for (size_t i = 0; i < exec->source->nodes.n; ++i)
        if (exec->source->nodes[i] == node)
            return result(set_launch(exec->graph->nodes[i], how));
    return result(cudaErrorInvalidValue);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *found)
{
    if (!exec || !graph || !found || !sort(graph))
        return result(cudaErrorInvalidValue);
    for (size_t i = 0; i < graph->nodes.n; ++i)
        graph->nodes[i]->number = i;
    *found = {};
    if (!is_alike(exec->graph, graph)) {
        found->result = cudaGraphExecUpdateErrorTopologyChanged;
        return result(cudaErrorGraphExecUpdateFailure);
    }
    Graph *made = copy_of(graph);
    for (size_t i = 0; i < made->nodes.n; ++i)
        made->nodes[i]->number = i;
    free_graph(exec->graph);
    exec->graph = made;
    return result(cudaSuccess);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return result(exec ? destroy(exec) : cudaErrorInvalidValue); }
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) { return result_if(exec); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    if (!exec)
        return result(cudaErrorInvalidValue);
    Graph *graph;
    if (const cudaError_t status = enter(stream, &graph))
        return result(status);
    if (graph) {
        next_of(graph, stream, cudaGraphNodeTypeGraph)->child = copy_of(exec->graph);
        return result(cudaSuccess);
    }
    OneCall whole;
    return result(run(exec, stream));
}
}
