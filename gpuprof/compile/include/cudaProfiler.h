// The name alone has to exist; it is in the driver's header.
#pragma once
#include "cuda.h"
