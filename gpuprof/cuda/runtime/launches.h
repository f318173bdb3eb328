// Launches: what one needs, ready to be started as often as a graph wants.
#pragma once

#include "modules.h"
#include "runtime_launches.h"

namespace gpuprof {

enum LaunchFlag { is_cooperative = 1, is_dependent = 2 };

struct Launch {
    const Kernel *kernel;
    dim3 grid, block, cluster; // no cluster: zeros
    size_t shared_nbytes;
    unsigned flags;
    char *params; // the parameter block, that `discard` frees
    cudaEvent_t event; // null, or recorded after it
};

// `arguments`: a pointer to each; null with `packed`, which holds them as the kernel wants them.
cudaError_t prepare(Launch *made, const Kernel *kernel, dim3 grid, dim3 block, void **arguments, const void *packed, size_t packed_nbytes,
                    size_t shared_nbytes, unsigned flags);
cudaError_t start(const Launch &launch, cudaStream_t stream);
void discard(Launch *launch);
cudaError_t take(Launch *made, const cudaLaunchAttribute &attribute); // what it says of a launch

// Prepares and starts, or adds to the graph that the stream is captured into. The launch is used up.
cudaError_t launch_now(Launch *launch, cudaStream_t stream);

} // namespace gpuprof
