// The C library's headers that a CUDA program need not name, since CUDA's own runtime header includes them.
#pragma once

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
