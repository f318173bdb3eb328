// Names and texts of errors.
#include "channel.h"

namespace {
struct Named {
    cudaError_t error;
    const char *name, *text;
};
#define GPUPROF_ERROR(NAME, VALUE, TEXT) {NAME, #NAME, TEXT},
const Named named[] = {GPUPROF_ERRORS(GPUPROF_ERROR)};

const Named *find(cudaError_t error)
{
    for (const Named &each : named)
        if (each.error == error)
            return &each;
    return nullptr;
}
} // namespace

extern "C" const char *cudaGetErrorString(cudaError_t error)
{
    const Named *found = find(error);
    return found ? found->text : "unrecognized error code";
}
extern "C" const char *cudaGetErrorName(cudaError_t error)
{
    const Named *found = find(error);
    return found ? found->name : "unrecognized error code";
}
