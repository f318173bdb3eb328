// The types are included before every file, with what most kernels use of them; the rest comes with this name.
#pragma once

#ifdef __cplusplus

#include "gpuprof/cuda.h"
#include "gpuprof/bfloat_forms.h"
#include "gpuprof/half_forms.h"
#include "gpuprof/half_names.h"

#define GPUPROF_BITSB16(BITS) __ushort_as_bfloat16((unsigned short)(BITS))
#define CUDART_INF_BF16 GPUPROF_BITSB16(0x7F80)
#define CUDART_NAN_BF16 GPUPROF_BITSB16(0x7FFF)
#define CUDART_MIN_DENORM_BF16 GPUPROF_BITSB16(0x0001)
#define CUDART_MAX_NORMAL_BF16 GPUPROF_BITSB16(0x7F7F)
#define CUDART_NEG_ZERO_BF16 GPUPROF_BITSB16(0x8000)
#define CUDART_ZERO_BF16 GPUPROF_BITSB16(0x0000)
#define CUDART_ONE_BF16 GPUPROF_BITSB16(0x3F80)
#else
#error "gpuprof has cuda_bf16.h in C++ only: name this file .cpp, or keep its types out of C"
#endif
