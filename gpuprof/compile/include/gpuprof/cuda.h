// Included before every .cu file: the CUDA language as its programs know it.
#pragma once

#include "atomics.h"
#include "floating.h"
#include "functions.h"
#include "half.h"
#include "half_math.h"
#include "integer.h"
#include "language.h"
#include "library.h"
#include "memory.h"
#include "runtime.h"
#include "services.h"
#include "simd.h"
#include "surface.h"
#include "sync.h"
#include "texture.h"
#include "texture_runtime.h"
