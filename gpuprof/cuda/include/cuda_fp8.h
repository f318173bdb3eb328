// 8-bit floating point: __nv_fp8_e4m3, __nv_fp8_e5m2, their pairs and fours. Storage and conversions; there is no arithmetic on them.
#pragma once

#ifdef __cplusplus

#include "gpuprof/fp8.h"
#include "gpuprof/fp8_scale.h"
#include "gpuprof/half_names.h"
#else
#error "gpuprof has cuda_fp8.h in C++ only: name this file .cpp, or keep its types out of C"
#endif
