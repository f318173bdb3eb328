// Calls of the driver that gpuprof does not have. NVIDIA's C++ libraries (CCCL 13) name them in headers that programs
// include for other things: a program that calls one does not compile, and cuGetProcAddress says that it is not there.
#pragma once

#define GPUPROF_REFUSED __attribute__((error("gpuprof does not have it")))

#include "driver.h"

extern "C" {
GPUPROF_REFUSED CUresult cuGreenCtxCreate(CUgreenCtx *context, CUdevResourceDesc how, CUdevice device, unsigned int flags);
GPUPROF_REFUSED CUresult cuGreenCtxDestroy(CUgreenCtx context);
GPUPROF_REFUSED CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx green);
GPUPROF_REFUSED CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
                                              const CUDA_KERNEL_NODE_PARAMS *how);
GPUPROF_REFUSED CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute, const CUkernelNodeAttrValue *value);
GPUPROF_REFUSED CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                                const cuuint64_t *dimensions, const cuuint64_t *strides, const cuuint32_t *box,
                                                const cuuint32_t *element_strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);
}
