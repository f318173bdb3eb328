// Matrix multiplication of a warp: nvcuda::wmma.
#pragma once

#include "gpuprof/wmma.h"
