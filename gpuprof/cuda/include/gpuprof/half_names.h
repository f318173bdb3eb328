// 16-bit floating point, the names without underscores: a program that includes none of their headers may use them.
#pragma once

#include "half.h"

typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
