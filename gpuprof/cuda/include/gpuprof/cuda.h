// Included before every .cu file: the CUDA language as its programs know it. A .cpp file only has the host's part.
#pragma once

#ifdef __CUDA__
#include "atomics.h"
#include "atomics_ordered.h"
#include "cluster.h"
#include "dpx.h"
#include "floating.h"
#include "functions.h"
#include "half.h"
#include "half_intrinsics.h"
#include "half_math.h"
#include "host_math.h"
#include "integer.h"
#include "language.h"
#include "launches.h"
#include "library.h"
#include "library_types.h"
#include "memory.h"
#include "runtime.h"
#include "runtime_graphs.h"
#include "runtime_launches.h"
#include "runtime_pools.h"
#include "services.h"
#include "simd.h"
#include "surface.h"
#include "sync.h"
#include "texture.h"
#include "texture_runtime.h"
#else
#ifndef GPUPROF_RUNTIME // the library of these calls has the C library's headers that it names
#include "host_math.h"
#include "library.h"
#endif
#include "language.h"
#include "library_types.h"
#include "runtime.h"
#include "runtime_graphs.h"
#include "runtime_launches.h"
#include "runtime_pools.h"
#include "texture_runtime.h"
#endif
