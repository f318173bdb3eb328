// dependents BLOCKS: what programmatic dependent launch saves at a boundary between two empty kernels of so many blocks,
// by events around them; a kernel before them lets the host get ahead.
#include "figure.h"

__global__ void first() { asm volatile("griddepcontrol.launch_dependents;"); }

__global__ void second() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

static double pair_us(int blocks, bool is_programmatic, cudaStream_t stream)
{
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(128);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = is_programmatic ? 1 : 0;
    Events events;
    busy<<<1, 1, 0, stream>>>(AHEAD);
    events.begin(stream);
    first<<<blocks, 128, 0, stream>>>();
    CHECK(cudaLaunchKernelEx(&config, second));
    return events.end_us(stream);
}

int main(int, char **argv)
{
    int blocks = std::atoi(argv[1]);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    pair_us(blocks, false, stream);
    return figure(pair_us(blocks, false, stream) - pair_us(blocks, true, stream));
}
