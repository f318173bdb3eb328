// The shape of graphs: edges, clones, which nodes are done; graphs as text.
#include "graph_nodes.h"

#include <stdio.h>

using namespace gpuprof;

namespace {

// As many as there is room for. Without a list, how many there are. An edge says nothing here: all its bytes are 0.
cudaError_t give(const List<Node *> &from, cudaGraphNode_t *to, cudaGraphEdgeData *edges, size_t *n)
{
    if (!n)
        return cudaErrorInvalidValue;
    for (size_t i = 0; to && i < *n; ++i) {
        to[i] = i < from.n ? from[i] : nullptr;
        if (edges)
            edges[i] = {};
    }
    if (!to || *n > from.n)
        *n = from.n;
    return cudaSuccess;
}

bool are_usual(const cudaGraphEdgeData *edges, size_t n)
{
    for (size_t i = 0; edges && i < n; ++i)
        if (edges[i].from_port || edges[i].to_port || edges[i].type)
            return false;
    return true;
}

cudaError_t give_before(cudaGraphNode_t node, cudaGraphNode_t *before, cudaGraphEdgeData *edges, size_t *n)
{
    return node ? give(node->before, before, edges, n) : cudaErrorInvalidValue;
}

cudaError_t give_after(cudaGraphNode_t node, cudaGraphNode_t *after, cudaGraphEdgeData *edges, size_t *n)
{
    if (!node)
        return cudaErrorInvalidValue;
    List<Node *> found = {};
    for (Node *each : node->graph->nodes)
        if (each->before.has(node))
            found.add(each);
    const cudaError_t status = give(found, after, edges, n);
    found.clear();
    return status;
}

cudaError_t remove_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n)
{
    if (!graph || (n && (!from || !to)))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; ++i)
        if (!to[i] || to[i]->graph != graph || !to[i]->before.has(from[i]))
            return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < to[i]->before.n; ++j)
            if (to[i]->before[j] == from[i])
                to[i]->before.drop(j--);
    return cudaSuccess;
}

const char *name_of(cudaGraphNodeType type)
{
    static const char *names[] = {"kernel",       "memcpy", "memset", "host",  "graph", "empty", "event wait",
                                  "event record", "",       "",       "alloc", "free",  "",      "conditional"};
    return names[type];
}

bool print_dot(Graph *graph, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fprintf(file, "digraph dot {\n");
    for (size_t i = 0; i < graph->nodes.n; ++i) {
        graph->nodes[i]->number = i;
        const Node &node = *graph->nodes[i];
        const bool is_kernel = node.type == cudaGraphNodeTypeKernel;
        fprintf(file, "\"%zu\" [label=\"%s%s%s\"];\n", i, name_of(node.type), is_kernel ? " " : "", is_kernel ? node.launch.kernel->symbol : "");
    }
    for (const Node *node : graph->nodes)
        for (const Node *before : node->before)
            fprintf(file, "\"%zu\" -> \"%zu\";\n", before->number, node->number);
    fprintf(file, "}\n");
    return !fclose(file);
}

bool can_be_disabled(const Node *node)
{
    return node && (node->type == cudaGraphNodeTypeKernel || node->type == cudaGraphNodeTypeMemcpy || node->type == cudaGraphNodeTypeMemset);
}

} // namespace

extern "C" {

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *before, size_t *n)
{
    return result(give_before(node, before, nullptr, n));
}
cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *before, cudaGraphEdgeData *edges, size_t *n)
{
    return result(give_before(node, before, edges, n));
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *after, size_t *n)
{
    return result(give_after(node, after, nullptr, n));
}
cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t *after, cudaGraphEdgeData *edges, size_t *n)
{
    return result(give_after(node, after, edges, n));
}
cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges, size_t *n)
{
    const cudaError_t status = cudaGraphGetEdges(graph, from, to, n);
    for (size_t i = 0; !status && edges && from && i < *n; ++i)
        edges[i] = {};
    return status;
}
cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                        size_t n)
{
    return are_usual(edges, n) ? cudaGraphAddDependencies(graph, from, to, n) : result(not_supported("an edge that is programmatic"));
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t n)
{
    return result(remove_edges(graph, from, to, n));
}
cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
                                           size_t n)
{
    return result(are_usual(edges, n) ? remove_edges(graph, from, to, n) : cudaErrorInvalidValue); // there is no such edge
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    if (node)
        remove_node(node);
    return result_if(node);
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone)
{
    if (!found || !node || !clone)
        return result(cudaErrorInvalidValue);
    for (Node *each : clone->nodes)
        if (each->original == node) {
            *found = each;
            return result(cudaSuccess);
        }
    return result(cudaErrorInvalidValue);
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int is_enabled)
{
    Node *twin = twin_in(exec, node);
    if (can_be_disabled(twin))
        twin->is_disabled = !is_enabled;
    return result_if(can_be_disabled(twin));
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int *is_enabled)
{
    const Node *twin = twin_in(exec, node);
    if (can_be_disabled(twin) && is_enabled)
        *is_enabled = !twin->is_disabled;
    return result_if(can_be_disabled(twin) && is_enabled);
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *how)
{
    if (!how)
        return result(cudaErrorInvalidValue);
    const cudaError_t status = cudaGraphInstantiateWithFlags(exec, graph, how->flags);
    how->errNode_out = nullptr;
    how->result_out = status ? cudaGraphInstantiateInvalidStructure : cudaGraphInstantiateSuccess;
    return status;
}
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    if (exec && flags)
        *flags = exec->flags & ~(unsigned long long)cudaGraphInstantiateFlagUpload;
    return result_if(exec && flags);
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int)
{
    if (!graph || !path)
        return result(cudaErrorInvalidValue);
    return result(print_dot(graph, path) ? cudaSuccess : cudaErrorOperatingSystem);
}
}
