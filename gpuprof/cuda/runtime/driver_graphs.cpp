// Graphs of the driver: the runtime's under other names, with functions in place of kernels' addresses.
#include "driver_modules.h"

using namespace gpuprof;

namespace {

// Kinds of dependencies that are not the usual one are not there.
bool are_usual(const CUgraphEdgeData *edges, size_t n)
{
    for (size_t i = 0; edges && i < n; ++i)
        if (edges[i].from_port || edges[i].to_port || edges[i].type)
            return false;
    return true;
}
CUresult refuse_edges()
{
    ask_with(text("a dependency with ports (CUgraphEdgeData)"), nullptr, Call::refuse);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult add_dependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *edges, size_t n)
{
    if (n && (!from || !to))
        return CUDA_ERROR_INVALID_VALUE;
    return are_usual(edges, n) ? as(cudaGraphAddDependencies(graph, from, to, n)) : refuse_edges();
}

CUresult get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges, size_t *n)
{
    const size_t room = n ? *n : 0;
    const CUresult error = as(cudaGraphGetEdges(graph, from, to, n));
    for (size_t i = 0; !error && edges && i < room; ++i)
        edges[i] = {};
    return error;
}

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
    return driver_call([=] { return add_dependencies(graph, from, to, edges, n); });
}
CUresult cuGraphAddDependencies_v1(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    return driver_call([=] { return add_dependencies(graph, from, to, nullptr, n); });
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
    return driver_call([=] { return get_edges(graph, from, to, edges, n); });
}
CUresult cuGraphGetEdges_v1(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
    return driver_call([=] { return get_edges(graph, from, to, nullptr, n); });
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
}
