// Contexts of the driver. They share one memory: what differs is which one is current, and their settings.
#pragma once

#include "driver_calls.h"

struct CUctx_st {
    unsigned long long id;
    unsigned flags, n_uses;
    bool is_destroyed;
    CUfunc_cache cache;
    CUsharedconfig banks;
};

namespace gpuprof {

CUcontext current_context(); // null where the thread has none

} // namespace gpuprof
