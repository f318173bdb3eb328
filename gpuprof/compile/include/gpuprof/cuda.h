// Included before every .cu file: the CUDA language as its programs know it.
#pragma once

#include "language.h"
#include "sync.h"
#include "atomics.h"
