// The types are included before every file, with what most kernels use of them; the rest comes with this name.
#pragma once

#include "gpuprof/cuda.h"
#include "gpuprof/half_forms.h"
