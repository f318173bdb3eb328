// Graphs of the driver: the runtime's under other names, with functions in place of kernels' addresses.
#include "driver_modules.h"

using namespace gpuprof;

namespace {

// The runtime's parameters of a kernel node; `arguments` points to each of the packed ones.
CUresult read(const CUDA_KERNEL_NODE_PARAMS *how, cudaKernelNodeParams *to, List<void *> *arguments)
{
    if (!how)
        return CUDA_ERROR_INVALID_VALUE;
    CUfunction function = how->func ? how->func : (CUfunction)how->kern;
    const void *packed;
    size_t nbytes;
    if (!is_function(function))
        return CUDA_ERROR_INVALID_HANDLE;
    if ((how->kernelParams && how->extra) || packed_of(how->extra, &packed, &nbytes) || (how->extra && nbytes < function->kernel.params_nbytes))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; how->extra && i < function->kernel.n_params; ++i)
        arguments->add((char *)packed + function->kernel.params[i].offset);
    *to = {function,
           dim3(how->gridDimX, how->gridDimY, how->gridDimZ),
           dim3(how->blockDimX, how->blockDimY, how->blockDimZ),
           how->sharedMemBytes,
           how->extra ? arguments->items : how->kernelParams,
           nullptr};
    return CUDA_SUCCESS;
}

// `what` is done with the runtime's parameters.
template <typename What> CUresult with_kernel(const CUDA_KERNEL_NODE_PARAMS *how, What what)
{
    List<void *> arguments = {};
    cudaKernelNodeParams params;
    CUresult error = read(how, &params, &arguments);
    if (!error)
        error = as(what(&params));
    arguments.clear();
    return error;
}

bool place_of(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch, size_t height, cudaPitchedPtr *to)
{
    *to = {type == CU_MEMORYTYPE_HOST ? (void *)host : pointer(device), pitch, pitch, height};
    return type != CU_MEMORYTYPE_ARRAY && to->ptr;
}

CUresult add_copy_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n, const CUDA_MEMCPY3D *how)
{
    if (!how)
        return CUDA_ERROR_INVALID_VALUE;
    cudaMemcpy3DParms params = {};
    const size_t rows = how->Height ? how->Height : 1;
    const size_t to_pitch = how->dstPitch ? how->dstPitch : how->WidthInBytes, from_pitch = how->srcPitch ? how->srcPitch : how->WidthInBytes;
    if (!place_of(how->dstMemoryType, how->dstHost, how->dstDevice, to_pitch, how->dstHeight ? how->dstHeight : rows, &params.dstPtr) ||
        !place_of(how->srcMemoryType, how->srcHost, how->srcDevice, from_pitch, how->srcHeight ? how->srcHeight : rows, &params.srcPtr)) {
        const bool has_array = how->dstMemoryType == CU_MEMORYTYPE_ARRAY || how->srcMemoryType == CU_MEMORYTYPE_ARRAY;
        if (has_array)
            ask_with(text("a graph's copy of an array"), nullptr, Call::refuse);
        return has_array ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    }
    params.dstPos = {how->dstXInBytes, how->dstY, how->dstZ};
    params.srcPos = {how->srcXInBytes, how->srcY, how->srcZ};
    params.extent = {how->WidthInBytes, rows, how->Depth ? how->Depth : 1};
    params.kind = cudaMemcpyDefault;
    return as(cudaGraphAddMemcpyNode(node, graph, before, n, &params));
}

CUresult instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    return exec && graph ? as(cudaGraphInstantiateWithFlags(exec, graph, flags)) : CUDA_ERROR_INVALID_VALUE;
}

} // namespace

extern "C" {
CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    return driver_call([=] {
        return (unsigned)mode <= CU_STREAM_CAPTURE_MODE_RELAXED ? as(cudaStreamBeginCapture(stream, (cudaStreamCaptureMode)mode))
                                                                : CUDA_ERROR_INVALID_VALUE;
    });
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    return driver_call([=] { return graph ? as(cudaStreamEndCapture(stream, graph)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    return driver_call([=] { return status ? as(cudaStreamIsCapturing(stream, (cudaStreamCaptureStatus *)status)) : CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
    return driver_call([=] { return graph && !flags ? as(cudaGraphCreate(graph, 0)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuGraphDestroy(CUgraph graph)
{
    return driver_call([=] { return cudaGraphDestroy(graph); });
}
CUresult cuGraphClone(CUgraph *clone, CUgraph graph)
{
    return driver_call([=] { return clone ? as(cudaGraphClone(clone, graph)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n, const CUDA_KERNEL_NODE_PARAMS *how)
{
    return driver_call(
        [=] { return with_kernel(how, [=](const cudaKernelNodeParams *params) { return cudaGraphAddKernelNode(node, graph, before, n, params); }); });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *how)
{
    return driver_call(
        [=] { return with_kernel(how, [=](const cudaKernelNodeParams *params) { return cudaGraphKernelNodeSetParams(node, params); }); });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *how)
{
    return driver_call(
        [=] { return with_kernel(how, [=](const cudaKernelNodeParams *params) { return cudaGraphExecKernelNodeSetParams(exec, node, params); }); });
}
CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n, const CUDA_MEMCPY3D *how, CUcontext)
{
    return driver_call([=] { return add_copy_node(node, graph, before, n, how); });
}
CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n, const CUDA_MEMSET_NODE_PARAMS *how, CUcontext)
{
    return driver_call([=] {
        if (!how)
            return CUDA_ERROR_INVALID_VALUE;
        const cudaMemsetParams params = {pointer(how->dst), how->pitch, how->value, how->elementSize, how->width, how->height};
        return as(cudaGraphAddMemsetNode(node, graph, before, n, &params));
    });
}
CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n, const CUDA_HOST_NODE_PARAMS *how)
{
    return driver_call([=] {
        if (!how)
            return CUDA_ERROR_INVALID_VALUE;
        const cudaHostNodeParams params = {how->fn, how->userData};
        return as(cudaGraphAddHostNode(node, graph, before, n, &params));
    });
}
CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n, CUgraph child_graph)
{
    return driver_call([=] { return cudaGraphAddChildGraphNode(node, graph, before, n, child_graph); });
}
CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n)
{
    return driver_call([=] { return cudaGraphAddEmptyNode(node, graph, before, n); });
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges, size_t n)
{
    return driver_call([=] { return cudaGraphAddDependencies_v2(graph, from, to, (const cudaGraphEdgeData *)edges, n); });
}
CUresult cuGraphAddDependencies_v1(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    return driver_call([=] { return cudaGraphAddDependencies(graph, from, to, n); });
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
    return driver_call([=] { return cudaGraphGetNodes(graph, nodes, n); });
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
    return driver_call([=] { return cudaGraphGetRootNodes(graph, nodes, n); });
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges, size_t *n)
{
    return driver_call([=] { return cudaGraphGetEdges_v2(graph, from, to, (cudaGraphEdgeData *)edges, n); });
}
CUresult cuGraphGetEdges_v1(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
    return driver_call([=] { return cudaGraphGetEdges(graph, from, to, n); });
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    return driver_call([=] { return type ? as(cudaGraphNodeGetType(node, (cudaGraphNodeType *)type)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    return driver_call([=] { return instantiate(exec, graph, flags); });
}
CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *how)
{
    return driver_call([=] {
        if (!how)
            return CUDA_ERROR_INVALID_VALUE;
        const CUresult error = instantiate(exec, graph, how->flags);
        how->hErrNode_out = nullptr;
        how->result_out = error ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE : CUDA_GRAPH_INSTANTIATE_SUCCESS;
        return error;
    });
}
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *found)
{
    return driver_call([=] { return cudaGraphExecUpdate(exec, graph, (cudaGraphExecUpdateResultInfo *)found); });
}
CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    return driver_call([=] { return cudaGraphExecDestroy(exec); });
}
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    return driver_call([=] { return cudaGraphUpload(exec, stream); });
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    return driver_call([=] { return cudaGraphLaunch(exec, stream); });
}
CUresult cuGraphDestroyNode(CUgraphNode node)
{
    return driver_call([=] { return cudaGraphDestroyNode(node); });
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges, size_t n)
{
    return driver_call([=] { return cudaGraphRemoveDependencies_v2(graph, from, to, (const cudaGraphEdgeData *)edges, n); });
}
CUresult cuGraphRemoveDependencies_v1(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    return driver_call([=] { return cudaGraphRemoveDependencies(graph, from, to, n); });
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *before, CUgraphEdgeData *edges, size_t *n)
{
    return driver_call([=] { return cudaGraphNodeGetDependencies_v2(node, before, (cudaGraphEdgeData *)edges, n); });
}
CUresult cuGraphNodeGetDependencies_v1(CUgraphNode node, CUgraphNode *before, size_t *n)
{
    return driver_call([=] { return cudaGraphNodeGetDependencies(node, before, n); });
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges, size_t *n)
{
    return driver_call([=] { return cudaGraphNodeGetDependentNodes_v2(node, nodes, (cudaGraphEdgeData *)edges, n); });
}
CUresult cuGraphNodeGetDependentNodes_v1(CUgraphNode node, CUgraphNode *nodes, size_t *n)
{
    return driver_call([=] { return cudaGraphNodeGetDependentNodes(node, nodes, n); });
}
CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone)
{
    return driver_call([=] { return cudaGraphNodeFindInClone(node, original, clone); });
}
CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int is_enabled)
{
    return driver_call([=] { return cudaGraphNodeSetEnabled(exec, node, is_enabled); });
}
CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int *is_enabled)
{
    return driver_call([=] { return cudaGraphNodeGetEnabled(exec, node, is_enabled); });
}
CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags)
{
    return driver_call([=] { return cudaGraphExecGetFlags(exec, (unsigned long long *)flags); });
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *how)
{
    return driver_call([=] { return how ? as(cudaGraphMemsetNodeGetParams(node, (cudaMemsetParams *)how)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *how)
{
    return driver_call([=] { return cudaGraphMemsetNodeSetParams(node, (const cudaMemsetParams *)how); });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *how, CUcontext)
{
    return driver_call([=] { return cudaGraphExecMemsetNodeSetParams(exec, node, (const cudaMemsetParams *)how); });
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *how)
{
    return driver_call([=] { return how ? as(cudaGraphHostNodeGetParams(node, (cudaHostNodeParams *)how)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *how)
{
    return driver_call([=] { return cudaGraphHostNodeSetParams(node, (const cudaHostNodeParams *)how); });
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *how)
{
    return driver_call([=] { return cudaGraphExecHostNodeSetParams(exec, node, (const cudaHostNodeParams *)how); });
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
    return driver_call([=] { return graph ? as(cudaGraphChildGraphNodeGetGraph(node, graph)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child_graph)
{
    return driver_call([=] { return cudaGraphExecChildGraphNodeSetParams(exec, node, child_graph); });
}
CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n, CUevent event)
{
    return driver_call([=] { return cudaGraphAddEventRecordNode(node, graph, before, n, event); });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
    return driver_call([=] { return event ? as(cudaGraphEventRecordNodeGetEvent(node, event)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
    return driver_call([=] { return cudaGraphEventRecordNodeSetEvent(node, event); });
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    return driver_call([=] { return cudaGraphExecEventRecordNodeSetEvent(exec, node, event); });
}
CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n, CUevent event)
{
    return driver_call([=] { return cudaGraphAddEventWaitNode(node, graph, before, n, event); });
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
    return driver_call([=] { return event ? as(cudaGraphEventWaitNodeGetEvent(node, event)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
    return driver_call([=] { return cudaGraphEventWaitNodeSetEvent(node, event); });
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    return driver_call([=] { return cudaGraphExecEventWaitNodeSetEvent(exec, node, event); });
}
// Attributes of launches, nodes and streams have the runtime's numbers and layout.
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue *value)
{
    return driver_call([=] { return cudaGraphKernelNodeGetAttribute(node, (cudaLaunchAttributeID)attribute, (cudaLaunchAttributeValue *)value); });
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute, const CUkernelNodeAttrValue *value)
{
    return driver_call(
        [=] { return cudaGraphKernelNodeSetAttribute(node, (cudaLaunchAttributeID)attribute, (const cudaLaunchAttributeValue *)value); });
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
    return driver_call([=] { return cudaGraphKernelNodeCopyAttributes(to, from); });
}
CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue *value)
{
    return driver_call([=] { return cudaStreamGetAttribute(stream, (cudaLaunchAttributeID)attribute, (cudaLaunchAttributeValue *)value); });
}
CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue *value)
{
    return driver_call([=] { return cudaStreamSetAttribute(stream, (cudaLaunchAttributeID)attribute, (const cudaLaunchAttributeValue *)value); });
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from)
{
    return driver_call([=] { return cudaStreamCopyAttributes(to, from); });
}
}
