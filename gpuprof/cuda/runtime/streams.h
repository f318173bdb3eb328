// What is known of a stream.
#pragma once

#include "channel.h"

namespace gpuprof {

bool is_stream(cudaStream_t stream); // one of CUDA's own, or one that the program has made and not destroyed
bool is_blocking(cudaStream_t stream); // it and the legacy stream wait for each other

inline bool is_legacy(cudaStream_t stream) { return number(stream) <= 1; }

} // namespace gpuprof
