// The name alone has to exist; all of NVTX is in one header.
#pragma once
#include "gpuprof/nvtx.h"
