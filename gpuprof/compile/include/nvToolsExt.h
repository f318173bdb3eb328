// The name that NVTX 2 had.
#pragma once
#include "gpuprof/nvtx.h"
