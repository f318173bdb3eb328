// Matrix multiplication of a warp: nvcuda::wmma.
#pragma once

#ifdef __CUDA__ // a .cpp file gets nothing of it, as with nvcc

#include "gpuprof/half_names.h"
#include "gpuprof/wmma.h"
#endif
