// Copies from global to shared memory that pass the registers by.
#pragma once

#include "cuda_pipeline_primitives.h"
