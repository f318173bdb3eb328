// What graphs are made of, and how they are done: each chain of nodes on a stream of its own.
#include "graph_nodes.h"
#include "arena.h"
#include "touches.h"

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

} // namespace

void free_node(Node *node)
{
    discard(&node->launch);
    node->before.clear();
    node->attributes.clear();
    free(node->arguments);
    give_up(node->memory);
    if (node->child)
        destroy(node->child);
    for (unsigned i = 0; i < node->conditional.size; ++i)
        destroy(node->conditional.phGraph_out[i]);
    free(node->conditional.phGraph_out);
    free(node);
}

void destroy(Graph *graph)
{
    for (Node *node : graph->nodes)
        free_node(node);
    graph->nodes.clear();
    for (const Condition &each : graph->conditions)
        give_up(each.word);
    graph->conditions.clear();
    drop_objects(graph);
    free(graph);
}

Graph *new_graph() { return (Graph *)calloc(1, sizeof(Graph)); }

Launch copy_of(const Launch &launch)
{
    Launch made = launch;
    if (launch.params) {
        made.params = (char *)malloc(launch.kernel->params_nbytes + 1);
        memcpy(made.params, launch.params, launch.kernel->params_nbytes);
    }
    return made;
}

void copy_to(Node *twin, Node *node)
{
    Graph *graph = twin->graph;
    *twin = *node;
    twin->graph = graph;
    twin->original = node;
    twin->before = {};
    twin->launch = copy_of(node->launch);
    twin->arguments = nullptr;
    twin->attributes = {};
    for (const cudaLaunchAttribute &each : node->attributes)
        twin->attributes.add(each);
    share(twin->memory);
    twin->child = node->child ? copy_of(node->child) : nullptr;
    cudaGraph_t *bodies = node->conditional.phGraph_out;
    twin->conditional.phGraph_out = bodies ? (cudaGraph_t *)calloc(node->conditional.size, sizeof *bodies) : nullptr;
    for (unsigned i = 0; i < node->conditional.size; ++i)
        twin->conditional.phGraph_out[i] = copy_of(bodies[i]);
}

Graph *copy_of(Graph *graph)
{
    Graph *made = new_graph();
    for (Node *node : graph->nodes)
        copy_to(node->twin = new_node(made, node->type), node);
    for (Node *node : graph->nodes)
        for (Node *before : node->before)
            node->twin->before.add(before->twin);
    for (const Condition &each : graph->conditions) {
        made->conditions.add(each);
        share(each.word);
    }
    for (const Held &each : graph->objects)
        made->objects.add(each);
    hold_objects(made);
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
    for (Node *node : graph->nodes)
        for (unsigned i = 0; i < node->conditional.size; ++i)
            if (!sort(node->conditional.phGraph_out[i]))
                return false;
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
    remove_node(node);
    return nullptr;
}

// The others keep their order.
void remove_node(Node *node)
{
    List<Node *> left = {};
    for (Node *each : node->graph->nodes) {
        if (each != node)
            left.add(each);
        for (size_t i = 0; i < each->before.n; ++i)
            if (each->before[i] == node)
                each->before.drop(i--);
    }
    node->graph->nodes.clear();
    node->graph->nodes = left;
    free_node(node);
}

namespace {

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

cudaError_t wait(cudaStream_t stream, cudaEvent_t event) { return ask(Call::wait, (unsigned long long)event, number(stream)).status; }

cudaError_t call_host(const HostCall &call, cudaStream_t stream)
{
    const cudaError_t status = ask(Call::host_function, number(stream)).status;
    if (status)
        return status;
    {
        TheirTurn turn;
        call.function(call.data);
    }
    report_touches();
    return cudaSuccess;
}

cudaError_t fill_elements(const HostFill &how, cudaStream_t stream)
{
    const unsigned byte = how.value & 0xff;
    if (how.element_nbytes == 1 || how.value == byte * (how.element_nbytes == 2 ? 0x101u : 0x1010101u))
        return fill_box(how.side, (int)byte, how.box, stream);
    return ask(Call::fill_words, how.side.base, how.box.nbytes, how.value, how.element_nbytes, how.side.row, how.box.rows, number(stream)).status;
}

// The program may have freed it after an earlier launch: CUDA would allocate it again.
cudaError_t check_memory(const Node &node)
{
    const void *start;
    kind_of(node.memory->p, &start);
    return start ? cudaSuccess : not_supported("a launch of a graph whose memory was freed");
}

cudaError_t do_node(const Node &node, cudaStream_t stream)
{
    if (node.is_disabled)
        return cudaSuccess;
    switch (node.type) {
    case cudaGraphNodeTypeKernel: return start(node.launch, stream);
    case cudaGraphNodeTypeMemcpy: return copy_box(node.copy.to, node.copy.from, node.copy.box, node.copy.kind, stream);
    case cudaGraphNodeTypeMemset: return fill_elements(node.fill, stream);
    case cudaGraphNodeTypeHost: return call_host(node.host, stream);
    case cudaGraphNodeTypeGraph: return run_all(node.child, stream);
    case cudaGraphNodeTypeWaitEvent: return wait(stream, node.event);
    case cudaGraphNodeTypeEventRecord: return record_now(node.event, stream);
    case cudaGraphNodeTypeMemAlloc: return check_memory(node);
    case cudaGraphNodeTypeConditional: return do_conditional(node, stream);
    case cudaGraphNodeTypeMemFree: // what it had is freed with the graph
    case cudaGraphNodeTypeEmpty: return cudaSuccess;
    default: return cudaErrorInvalidValue;
    }
}

// A child graph's nodes count in its node's place, those of a conditional node's graphs once each, besides it.
size_t n_nodes(const Graph *graph)
{
    size_t n = 0;
    for (const Node *node : graph->nodes) {
        n += node->child ? n_nodes(node->child) : 1;
        for (unsigned i = 0; i < node->conditional.size; ++i)
            n += n_nodes(node->conditional.phGraph_out[i]);
    }
    return n;
}

// What is asked while it lives is the launch of a graph.
class GraphLaunch {
public:
    explicit GraphLaunch(const Graph *graph) { ask(Call::begin_graph, n_nodes(graph)); }
    ~GraphLaunch() { ask(Call::end_graph); }

private:
    OneCall whole;
};

cudaError_t run(CUgraphExec_st *exec, cudaStream_t stream)
{
    Plan &plan = exec->plan;
    cudaEvent_t begin = nullptr;
    cudaError_t status = cudaSuccess;
    if (plan.streams.n > 1) {
        status = new_event(&begin);
        status = status ? status : record_now(begin, stream);
        for (size_t i = 1; i < plan.streams.n && !status; ++i)
            status = wait(plan.streams[i], begin);
    }
    plan.streams[0] = stream;
    reset_conditions(exec->graph, stream);
    for (size_t i = 0; i < exec->graph->nodes.n && !status; ++i) {
        const Node &node = *exec->graph->nodes[i];
        const size_t its = plan.stream_of[i];
        for (Node *before : node.before)
            if (plan.stream_of[before->number] != its && !status)
                status = wait(plan.streams[its], plan.events[before->number]);
        status = status ? status : do_node(node, plan.streams[its]);
        if (plan.events[i] && !status)
            status = record_now(plan.events[i], plan.streams[its]);
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
    gpuprof::destroy(exec->graph);
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

cudaError_t run_all(Graph *graph, cudaStream_t stream)
{
    cudaError_t status = cudaSuccess;
    for (Node *each : graph->nodes)
        status = status ? status : do_node(*each, stream);
    return status;
}

Node *twin_in(cudaGraphExec_t exec, cudaGraphNode_t node)
{
    if (exec && node)
        for (Node *each : exec->graph->nodes)
            if (each->original == node)
                return each;
    return nullptr;
}

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
    set_flat_copy(node, to, from, nbytes, kind);
    return cudaSuccess;
}
cudaError_t add_copy_box(Graph *graph, cudaStream_t stream, Side to, Side from, Box box, cudaMemcpyKind kind)
{
    set_box_copy(next_of(graph, stream, cudaGraphNodeTypeMemcpy), to, from, box, kind);
    return cudaSuccess;
}
cudaError_t add_fill(Graph *graph, cudaStream_t stream, void *p, int value, size_t nbytes)
{
    const cudaMemsetParams how = {p, 0, (unsigned char)value, 1, nbytes, 1};
    return set_fill(next_of(graph, stream, cudaGraphNodeTypeMemset), &how);
}
cudaError_t add_fill_words(Graph *graph, cudaStream_t stream, Side side, Box box, unsigned value, unsigned element_nbytes)
{
    Node *node = next_of(graph, stream, cudaGraphNodeTypeMemset);
    node->fill = {side, box, value, element_nbytes};
    node->fill_how = {side.base, side.row, value, element_nbytes, box.nbytes / element_nbytes, box.rows};
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

namespace {
// A node that is there only if it can be set.
template <typename Set>
cudaError_t add_set(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaGraphNodeType type, Set set)
{
    if (!add_node(node, graph, before, n, type))
        return cudaErrorInvalidValue;
    const cudaError_t status = set(*node);
    if (status)
        remove_node(*node);
    return status;
}
} // namespace

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
        destroy(graph);
    return result_if(graph);
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, const cudaKernelNodeParams *how)
{
    return result(add_set(node, graph, before, n, cudaGraphNodeTypeKernel, [=](Node *made) { return set_launch(made, how); }));
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, const cudaMemcpy3DParms *how)
{
    return result(add_set(node, graph, before, n, cudaGraphNodeTypeMemcpy, [=](Node *made) { return set_copy(made, how); }));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, void *to, const void *from,
                                     size_t nbytes, cudaMemcpyKind kind)
{
    if (!add_node(node, graph, before, n, cudaGraphNodeTypeMemcpy))
        return result(cudaErrorInvalidValue);
    set_flat_copy(*node, to, from, nbytes, kind);
    return result(cudaSuccess);
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, const cudaMemsetParams *how)
{
    return result(add_set(node, graph, before, n, cudaGraphNodeTypeMemset, [=](Node *made) { return set_fill(made, how); }));
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, const cudaHostNodeParams *how)
{
    return result(add_set(node, graph, before, n, cudaGraphNodeTypeHost, [=](Node *made) { return set_call(made, how); }));
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaGraph_t child)
{
    return result(add_set(node, graph, before, n, cudaGraphNodeTypeGraph, [=](Node *made) { return set_child(made, child); }));
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

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    *exec = nullptr;
    if (!graph || !sort(graph))
        return result(cudaErrorInvalidValue);
    OneCall whole;
    CUgraphExec_st *made = (CUgraphExec_st *)calloc(1, sizeof *made);
    made->graph = copy_of(graph);
    made->flags = flags;
    cudaError_t status = make_plan(made);
    status = status ? status : ask(Call::instantiate, n_nodes(made->graph)).status;
    if (status)
        destroy(made);
    else
        *exec = made;
    return result(status);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(exec, graph, flags);
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams *how)
{
    return result(updated(set_launch(twin_in(exec, node), how)));
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
    for (size_t i = 0; i < made->nodes.n; ++i) {
        made->nodes[i]->number = i;
        made->nodes[i]->original = exec->graph->nodes[i]->original; // whose nodes still stand for them
        made->nodes[i]->is_disabled = exec->graph->nodes[i]->is_disabled;
    }
    destroy(exec->graph);
    exec->graph = made;
    return result(ask(Call::update_graph, n_nodes(made)).status);
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
    GraphLaunch all(exec->graph);
    return result(run(exec, stream));
}
}
