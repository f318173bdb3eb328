// Formats of arrays, as the driver and the runtime name them.
#pragma once

#include "driver_calls.h"

namespace gpuprof {

bool channels_of(CUarray_format format, unsigned n, cudaChannelFormatDesc *form); // false: no format of such channels
CUarray_format format_of(const cudaChannelFormatDesc &form);

} // namespace gpuprof
