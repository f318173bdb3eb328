// What nodes do, set and read: in a graph, and in what was made of it.
#include "graph_nodes.h"
#include "arena.h"

namespace gpuprof {

cudaError_t set_launch(Node *node, const cudaKernelNodeParams *how)
{
    if (!node || node->type != cudaGraphNodeTypeKernel || !how || how->extra)
        return cudaErrorInvalidValue;
    cudaError_t status;
    const Kernel *kernel = kernel_of(how->func, &status);
    Launch made;
    if (kernel)
        status = prepare(&made, kernel, how->gridDim, how->blockDim, how->kernelParams, nullptr, 0, how->sharedMemBytes, 0);
    for (size_t i = 0; i < node->attributes.n && !status; ++i)
        status = take(&made, node->attributes[i]);
    if (status)
        return status;
    discard(&node->launch);
    free(node->arguments);
    node->arguments = nullptr;
    node->launch = made;
    node->function = how->func;
    return cudaSuccess;
}

cudaError_t set_copy(Node *node, const cudaMemcpy3DParms *how)
{
    if (!node || node->type != cudaGraphNodeTypeMemcpy || !how)
        return cudaErrorInvalidValue;
    const End to = {how->dstArray, how->dstPos, how->dstPtr}, from = {how->srcArray, how->srcPos, how->srcPtr};
    Box box;
    if (!box_of(to, from, how->extent, &box))
        return cudaErrorInvalidValue;
    node->copy = {to.side(), from.side(), box, how->kind};
    node->copy_how = *how;
    return cudaSuccess;
}

void set_flat_copy(Node *node, void *to, const void *from, size_t nbytes, cudaMemcpyKind kind)
{
    node->copy = {{(char *)to, 0, 0}, {(char *)from, 0, 0}, {nbytes, 1, 1}, kind};
    node->copy_how = {nullptr, {}, {(void *)from, nbytes, nbytes, 1}, nullptr, {}, {to, nbytes, nbytes, 1}, {nbytes, 1, 1}, kind};
}

void set_box_copy(Node *node, const Side &to, const Side &from, const Box &box, cudaMemcpyKind kind)
{
    const size_t to_height = to.row && to.slice ? to.slice / to.row : box.rows,
                 from_height = from.row && from.slice ? from.slice / from.row : box.rows;
    node->copy = {to, from, box, kind};
    node->copy_how = {nullptr,
                      {},
                      {from.base, from.row, box.nbytes, from_height},
                      nullptr,
                      {},
                      {to.base, to.row, box.nbytes, to_height},
                      {box.nbytes, box.rows, box.slices},
                      kind};
}

cudaError_t updated(cudaError_t status) { return status ? status : ask(Call::update_graph, 1).status; }

cudaError_t set_fill(Node *node, const cudaMemsetParams *how)
{
    const unsigned element = how ? how->elementSize : 0;
    if (!node || node->type != cudaGraphNodeTypeMemset || (element != 1 && element != 2 && element != 4))
        return cudaErrorInvalidValue;
    const size_t pitch = how->height > 1 ? how->pitch : how->width * element;
    const unsigned value = element == 4 ? how->value : how->value & ((1u << 8 * element) - 1);
    node->fill = {{(char *)how->dst, pitch, 0}, {how->width * element, how->height, 1}, value, element};
    node->fill_how = *how;
    return cudaSuccess;
}

cudaError_t set_call(Node *node, const cudaHostNodeParams *how)
{
    if (!node || node->type != cudaGraphNodeTypeHost || !how || !how->fn)
        return cudaErrorInvalidValue;
    node->host = {how->fn, how->userData};
    return cudaSuccess;
}

cudaError_t set_child(Node *node, Graph *child)
{
    if (!node || node->type != cudaGraphNodeTypeGraph || !child || !sort(child))
        return cudaErrorInvalidValue;
    if (node->child)
        destroy(node->child);
    node->child = copy_of(child);
    return cudaSuccess;
}

void share(Shared *memory)
{
    if (memory)
        ++memory->n_owners;
}

void give_up(Shared *memory)
{
    if (!memory || --memory->n_owners)
        return;
    const void *start;
    kind_of(memory->p, &start); // the program may have freed it
    if (start)
        release(memory->p);
    free(memory);
}

} // namespace gpuprof

using namespace gpuprof;

namespace {

bool is_of(const Node *node, cudaGraphNodeType type) { return node && node->type == type; }

cudaError_t set_flat(Node *node, void *to, const void *from, size_t nbytes, cudaMemcpyKind kind)
{
    if (!is_of(node, cudaGraphNodeTypeMemcpy))
        return cudaErrorInvalidValue;
    set_flat_copy(node, to, from, nbytes, kind);
    return cudaSuccess;
}

cudaError_t part_of(const void *symbol, size_t nbytes, size_t offset, char **part)
{
    Variable variable = {};
    const cudaError_t status = variable_of(symbol, &variable);
    *part = (char *)variable.address + offset;
    return status ? status : offset > variable.nbytes || nbytes > variable.nbytes - offset ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t set_to_symbol(Node *node, const void *symbol, const void *from, size_t nbytes, size_t offset, cudaMemcpyKind kind)
{
    char *part;
    const cudaError_t status = part_of(symbol, nbytes, offset, &part);
    return status ? status : set_flat(node, part, from, nbytes, kind);
}

cudaError_t set_from_symbol(Node *node, void *to, const void *symbol, size_t nbytes, size_t offset, cudaMemcpyKind kind)
{
    char *part;
    const cudaError_t status = part_of(symbol, nbytes, offset, &part);
    return status ? status : set_flat(node, to, part, nbytes, kind);
}

cudaError_t set_event(Node *node, cudaGraphNodeType type, cudaEvent_t event)
{
    if (!is_of(node, type) || !event)
        return cudaErrorInvalidValue;
    node->event = event;
    return cudaSuccess;
}

cudaError_t add_event_node(cudaGraphNode_t *node, Graph *graph, const cudaGraphNode_t *before, size_t n, cudaGraphNodeType type, cudaEvent_t event)
{
    if (!event || !add_node(node, graph, before, n, type))
        return cudaErrorInvalidValue;
    return set_event(*node, type, event);
}

cudaError_t give_event(const Node *node, cudaGraphNodeType type, cudaEvent_t *event)
{
    if (is_of(node, type) && event)
        *event = node->event;
    return is_of(node, type) && event ? cudaSuccess : cudaErrorInvalidValue;
}

template <typename T> cudaError_t give(const Node *node, cudaGraphNodeType type, T *to, const T &value)
{
    if (is_of(node, type) && to)
        *to = value;
    return is_of(node, type) && to ? cudaSuccess : cudaErrorInvalidValue;
}

cudaLaunchAttribute *attribute_of(const Node *node, cudaLaunchAttributeID id)
{
    for (cudaLaunchAttribute &each : node->attributes)
        if (each.id == id)
            return &each;
    return nullptr;
}

cudaError_t set_attribute(Node *node, cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value)
{
    if (!is_of(node, cudaGraphNodeTypeKernel) || !value)
        return cudaErrorInvalidValue;
    const cudaLaunchAttribute attribute = {id, {}, *value};
    if (const cudaError_t status = take(&node->launch, attribute))
        return status;
    if (cudaLaunchAttribute *there = attribute_of(node, id))
        *there = attribute;
    else
        node->attributes.add(attribute);
    return cudaSuccess;
}

// Graphs' own memory, in bytes; what a program sets back.
size_t used_nbytes = 0, most_nbytes = 0;

} // namespace

extern "C" {

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *how)
{
    if (!is_of(node, cudaGraphNodeTypeKernel) || !how)
        return result(cudaErrorInvalidValue);
    const Launch &launch = node->launch;
    if (!node->arguments)
        node->arguments = (void **)malloc((launch.kernel->n_params + 1) * sizeof(void *));
    for (unsigned i = 0; i < launch.kernel->n_params; ++i)
        node->arguments[i] = launch.params + launch.kernel->params[i].offset;
    *how = {(void *)node->function, launch.grid, launch.block, (unsigned)launch.shared_nbytes, node->arguments, nullptr};
    return result(cudaSuccess);
}
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue *value)
{
    return result(set_attribute(node, attribute, value));
}
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute, cudaLaunchAttributeValue *value)
{
    if (!is_of(node, cudaGraphNodeTypeKernel) || !value)
        return result(cudaErrorInvalidValue);
    const cudaLaunchAttribute *there = attribute_of(node, attribute);
    *value = there ? there->val : cudaLaunchAttributeValue{};
    return result(cudaSuccess);
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    cudaError_t status = is_of(to, cudaGraphNodeTypeKernel) && is_of(from, cudaGraphNodeTypeKernel) ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; !status && i < from->attributes.n; ++i)
        status = set_attribute(to, from->attributes[i].id, &from->attributes[i].val);
    return result(status);
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, const void *symbol,
                                           const void *from, size_t nbytes, size_t offset, cudaMemcpyKind kind)
{
    char *part;
    const cudaError_t status = part_of(symbol, nbytes, offset, &part);
    return status ? result(status) : cudaGraphAddMemcpyNode1D(node, graph, before, n, part, from, nbytes, kind);
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, void *to,
                                             const void *symbol, size_t nbytes, size_t offset, cudaMemcpyKind kind)
{
    char *part;
    const cudaError_t status = part_of(symbol, nbytes, offset, &part);
    return status ? result(status) : cudaGraphAddMemcpyNode1D(node, graph, before, n, to, part, nbytes, kind);
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *how)
{
    return result(give(node, cudaGraphNodeTypeMemcpy, how, node ? node->copy_how : cudaMemcpy3DParms{}));
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms *how) { return result(set_copy(node, how)); }
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t nbytes, cudaMemcpyKind kind)
{
    return result(set_flat(node, to, from, nbytes, kind));
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *from, size_t nbytes, size_t offset,
                                                 cudaMemcpyKind kind)
{
    return result(set_to_symbol(node, symbol, from, nbytes, offset, kind));
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const void *symbol, size_t nbytes, size_t offset,
                                                   cudaMemcpyKind kind)
{
    return result(set_from_symbol(node, to, symbol, nbytes, offset, kind));
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams *how)
{
    return result(give(node, cudaGraphNodeTypeMemset, how, node ? node->fill_how : cudaMemsetParams{}));
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams *how) { return result(set_fill(node, how)); }
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams *how)
{
    return result(give(node, cudaGraphNodeTypeHost, how, node ? cudaHostNodeParams{node->host.function, node->host.data} : cudaHostNodeParams{}));
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams *how) { return result(set_call(node, how)); }
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *child)
{
    return result(give(node, cudaGraphNodeTypeGraph, child, node ? node->child : nullptr));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaEvent_t event)
{
    return result(add_event_node(node, graph, before, n, cudaGraphNodeTypeEventRecord, event));
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return result(give_event(node, cudaGraphNodeTypeEventRecord, event));
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return result(set_event(node, cudaGraphNodeTypeEventRecord, event));
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaEvent_t event)
{
    return result(add_event_node(node, graph, before, n, cudaGraphNodeTypeWaitEvent, event));
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return result(give_event(node, cudaGraphNodeTypeWaitEvent, event));
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return result(set_event(node, cudaGraphNodeTypeWaitEvent, event));
}

// The memory is there from now on, until the last graph that has the node is gone.
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, cudaMemAllocNodeParams *how)
{
    if (!how || how->poolProps.allocType != cudaMemAllocationTypePinned || how->poolProps.location.type != cudaMemLocationTypeDevice ||
        how->poolProps.location.id || !how->bytesize || !add_node(node, graph, before, n, cudaGraphNodeTypeMemAlloc))
        return result(cudaErrorInvalidValue);
    void *p;
    if (const cudaError_t status = allocate(&p, how->bytesize, device_memory, "cudaGraphAddMemAllocNode")) {
        remove_node(*node);
        return result(status);
    }
    how->dptr = p;
    (*node)->alloc = *how;
    (*node)->memory = (Shared *)malloc(sizeof(Shared));
    *(*node)->memory = {(char *)p, how->bytesize, 1};
    used_nbytes += how->bytesize;
    most_nbytes = used_nbytes > most_nbytes ? used_nbytes : most_nbytes;
    return result(cudaSuccess);
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams *how)
{
    return result(give(node, cudaGraphNodeTypeMemAlloc, how, node ? node->alloc : cudaMemAllocNodeParams{}));
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t n, void *p)
{
    if (!is_device(p) || !add_node(node, graph, before, n, cudaGraphNodeTypeMemFree))
        return result(cudaErrorInvalidValue);
    (*node)->freed = p;
    for (const Node *each : graph->nodes)
        if (each->memory && each->memory->p == p)
            used_nbytes -= each->memory->nbytes;
    return result(cudaSuccess);
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *p)
{
    return result(give(node, cudaGraphNodeTypeMemFree, (void **)p, node ? node->freed : nullptr));
}
cudaError_t cudaDeviceGraphMemTrim(int device) { return result(device ? cudaErrorInvalidDevice : cudaSuccess); }
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void *value)
{
    if (device || !value || (unsigned)attribute > cudaGraphMemAttrReservedMemHigh)
        return result(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    const bool is_most = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    *(unsigned long long *)value = is_most ? most_nbytes : used_nbytes;
    return result(cudaSuccess);
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void *value)
{
    const bool is_most = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    if (device || !value || !is_most || *(unsigned long long *)value) // it may only be set back
        return result(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    most_nbytes = used_nbytes;
    return result(cudaSuccess);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemcpy3DParms *how)
{
    return result(updated(set_copy(twin_in(exec, node), how)));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from, size_t nbytes,
                                               cudaMemcpyKind kind)
{
    return result(updated(set_flat(twin_in(exec, node), to, from, nbytes, kind)));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol, const void *from, size_t nbytes,
                                                     size_t offset, cudaMemcpyKind kind)
{
    return result(updated(set_to_symbol(twin_in(exec, node), symbol, from, nbytes, offset, kind)));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *symbol, size_t nbytes,
                                                       size_t offset, cudaMemcpyKind kind)
{
    return result(updated(set_from_symbol(twin_in(exec, node), to, symbol, nbytes, offset, kind)));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams *how)
{
    return result(updated(set_fill(twin_in(exec, node), how)));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaHostNodeParams *how)
{
    return result(updated(set_call(twin_in(exec, node), how)));
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child)
{
    return result(updated(set_child(twin_in(exec, node), child)));
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    return result(updated(set_event(twin_in(exec, node), cudaGraphNodeTypeEventRecord, event)));
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    return result(updated(set_event(twin_in(exec, node), cudaGraphNodeTypeWaitEvent, event)));
}
}
