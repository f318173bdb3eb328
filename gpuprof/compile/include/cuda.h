// What kernels use of the driver's header: the tensor map that a launch gives them.
#pragma once
#include "gpuprof/cuda.h"

struct __align__(64) CUtensorMap {
    unsigned long long opaque[16];
};
