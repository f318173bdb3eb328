// Types of pointers to the driver's calls.
#pragma once
#include <cuda.h>
#include "gpuprof/driver_names.h"

#define GPUPROF_TYPE_OF_POINTER(NAME) typedef decltype(&NAME) PFN_##NAME;
GPUPROF_DRIVER_CALLS(GPUPROF_TYPE_OF_POINTER)
#undef GPUPROF_TYPE_OF_POINTER
