// Matrix multiplication of a warp: nvcuda::wmma.
#pragma once

#include "gpuprof/half_names.h"
#include "gpuprof/wmma.h"
