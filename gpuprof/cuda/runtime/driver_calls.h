// What the driver's calls share: most are the runtime's under other names.
#pragma once

#include "channel.h"
#include "gpuprof/driver_forms.h"

namespace gpuprof {

// Errors that only the runtime has become others.
CUresult as(cudaError_t error);
inline CUresult as(CUresult error) { return error; }

inline void *pointer(CUdeviceptr p) { return (void *)p; }

enum class Needs { nothing, cu_init, context };
CUresult missing(Needs needs); // the error of a call that needs what is not there

// `how` is the call's work, and gives an error of the runtime or of the driver. It is not kept for cudaGetLastError.
template <Needs needs = Needs::context, typename How> [[gnu::always_inline]] inline CUresult driver_call(How how)
{
    DriverCall driver;
    const CUresult error = missing(needs);
    return error ? error : (CUresult)report_unsupported((cudaError_t)as(how()));
}

inline CUresult result_of(bool is_right) { return is_right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

} // namespace gpuprof
