// The names of CUDA 12 for forms that CUDA 13 has replaced: both compile.
#pragma once

#include "driver_forms.h"

GPUPROF_FACE CUresult cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device) { return cuCtxCreate_v2(context, flags, device); }
GPUPROF_FACE CUresult cuMemAdvise(CUdeviceptr p, size_t nbytes, CUmem_advise advice, CUdevice device)
{
    return cuMemAdvise_v1(p, nbytes, advice, device);
}
GPUPROF_FACE CUresult cuMemPrefetchAsync(CUdeviceptr p, size_t nbytes, CUdevice device, CUstream stream)
{
    return cuMemPrefetchAsync_v1(p, nbytes, device, stream);
}
GPUPROF_FACE CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    return cuGraphAddDependencies_v1(graph, from, to, n);
}
GPUPROF_FACE CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
    return cuGraphGetEdges_v1(graph, from, to, n);
}
GPUPROF_FACE CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
    return cuGraphRemoveDependencies_v1(graph, from, to, n);
}
GPUPROF_FACE CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *before, size_t *n)
{
    return cuGraphNodeGetDependencies_v1(node, before, n);
}
GPUPROF_FACE CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *n)
{
    return cuGraphNodeGetDependentNodes_v1(node, nodes, n);
}
