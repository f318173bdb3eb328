// Pools of memory that is allocated in the order of streams.
#pragma once

#include "runtime_pools.h"

namespace gpuprof {

// The pool that an allocation came from, null where it came from none.
cudaMemPool_t pool_of(const void *p);

} // namespace gpuprof
