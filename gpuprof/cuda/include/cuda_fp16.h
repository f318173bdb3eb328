// The types are included before every file, with what most kernels use of them; the rest comes with this name.
#pragma once

#ifdef __cplusplus

#include "gpuprof/cuda.h"
#include "gpuprof/half_forms.h"
#include "gpuprof/half_names.h"

#define GPUPROF_BITS16(BITS) __ushort_as_half((unsigned short)(BITS))
#define CUDART_INF_FP16 GPUPROF_BITS16(0x7C00)
#define CUDART_NAN_FP16 GPUPROF_BITS16(0x7FFF)
#define CUDART_MIN_DENORM_FP16 GPUPROF_BITS16(0x0001)
#define CUDART_MAX_NORMAL_FP16 GPUPROF_BITS16(0x7BFF)
#define CUDART_NEG_ZERO_FP16 GPUPROF_BITS16(0x8000)
#define CUDART_ZERO_FP16 GPUPROF_BITS16(0x0000)
#define CUDART_ONE_FP16 GPUPROF_BITS16(0x3C00)
#else
#error "gpuprof has cuda_fp16.h in C++ only: name this file .cpp, or keep its types out of C"
#endif
