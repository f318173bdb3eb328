// Types of pointers to the driver's calls: PFN_cuMemAlloc_v3020 by the release of a form, PFN_cuMemAlloc the newest.
#pragma once
#include <cuda.h>

#define GPUPROF_POINTER(NAME, FUNCTION, RELEASE) typedef gpuprof_driver::NAME##_v##RELEASE PFN_##NAME##_v##RELEASE;
#define GPUPROF_NEWEST_POINTER(NAME, FUNCTION, RELEASE) typedef gpuprof_driver::NAME##_v##RELEASE PFN_##NAME;
GPUPROF_DRIVER_CALLS(GPUPROF_POINTER)
GPUPROF_DRIVER_CALLS(GPUPROF_NEWEST_POINTER)
GPUPROF_OLDER_DRIVER_CALLS(GPUPROF_POINTER)
#undef GPUPROF_POINTER
#undef GPUPROF_NEWEST_POINTER
