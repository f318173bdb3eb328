// Calls of the driver that gpuprof does not have. NVIDIA's C++ libraries (CCCL 13) name them in headers that programs
// include for other things: a program that calls one does not compile, and cuGetProcAddress says that it is not there.
#pragma once

#define GPUPROF_REFUSED __attribute__((error("gpuprof does not have it")))

#include "driver.h"

GPUPROF_C_BEGIN
GPUPROF_REFUSED CUresult cuGreenCtxCreate(CUgreenCtx *context, CUdevResourceDesc how, CUdevice device, unsigned int flags);
GPUPROF_REFUSED CUresult cuGreenCtxDestroy(CUgreenCtx context);
GPUPROF_REFUSED CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx green);
GPUPROF_C_END
