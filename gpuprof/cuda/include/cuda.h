// The driver's header: its calls, and the tensor map that a launch gives a kernel.
#pragma once
#include "gpuprof/cuda.h"
#include "gpuprof/driver.h"
#include "gpuprof/driver_others.h"
#ifdef __cplusplus
#include "gpuprof/driver_pointers.h"
#endif
#ifndef GPUPROF_RUNTIME
#include "gpuprof/driver_older.h"
#endif

