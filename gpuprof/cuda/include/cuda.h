// The driver's header: its calls, and the tensor map that a launch gives a kernel.
#pragma once
#include "gpuprof/cuda.h"
#include "gpuprof/driver.h"

struct __align__(64) CUtensorMap {
    unsigned long long opaque[16];
};
#include "gpuprof/driver_others.h"
