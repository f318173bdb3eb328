// Forms of the driver's calls that CUDA 13 has replaced, by their symbols.
#pragma once

#include "driver.h"

GPUPROF_C_BEGIN
CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *affinity, int n, unsigned int flags, CUdevice device);
CUresult cuMemAdvise_v1(CUdeviceptr p, size_t nbytes, CUmem_advise advice, CUdevice device) __asm__("cuMemAdvise");
CUresult cuMemPrefetchAsync_v1(CUdeviceptr p, size_t nbytes, CUdevice device, CUstream stream) __asm__("cuMemPrefetchAsync");
CUresult cuGraphAddDependencies_v1(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n) __asm__("cuGraphAddDependencies");
CUresult cuGraphGetEdges_v1(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n) __asm__("cuGraphGetEdges");
CUresult cuGraphRemoveDependencies_v1(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n) __asm__("cuGraphRemoveDependencies");
CUresult cuGraphNodeGetDependencies_v1(CUgraphNode node, CUgraphNode *before, size_t *n) __asm__("cuGraphNodeGetDependencies");
CUresult cuGraphNodeGetDependentNodes_v1(CUgraphNode node, CUgraphNode *nodes, size_t *n) __asm__("cuGraphNodeGetDependentNodes");
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green);
GPUPROF_C_END
