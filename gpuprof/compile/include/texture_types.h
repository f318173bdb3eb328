// The whole language is included before every file; this name only has to exist.
#pragma once
#include "gpuprof/cuda.h"
