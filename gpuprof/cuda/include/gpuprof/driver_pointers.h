// The type of each form of the driver's calls, taken before one name has several of them (driver_older.h).
#pragma once

#include "driver.h"
#include "driver_forms.h"
#include "driver_names.h"

namespace gpuprof_driver {
#define GPUPROF_TYPE_OF_CALL(NAME, FUNCTION, RELEASE) typedef decltype(&FUNCTION) NAME##_v##RELEASE;
GPUPROF_DRIVER_CALLS(GPUPROF_TYPE_OF_CALL)
GPUPROF_OLDER_DRIVER_CALLS(GPUPROF_TYPE_OF_CALL)
#undef GPUPROF_TYPE_OF_CALL
} // namespace gpuprof_driver
