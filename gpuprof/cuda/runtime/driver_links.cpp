// The linker of PTX. What it makes is PTX again, which a module is loaded of.
#include "driver_modules.h"

#include <string.h>

using namespace gpuprof;

struct CUlinkState_st {
    JitOptions options;
    List<char> texts; // each ends in a zero
    char *image;
};

namespace {

// `length` counts a zero at the end, or not.
CUresult add(CUlinkState state, CUjitInputType type, const char *data, size_t length)
{
    if (type != CU_JIT_INPUT_PTX)
        return (unsigned)type < CU_JIT_NUM_INPUT_TYPES ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_VALUE;
    const size_t n = strnlen(data, length);
    const CUresult error = as(ask_with(Payload{data, n}, nullptr, Call::check_image).status);
    give_logs(state->options, error);
    for (size_t i = 0; !error && i < n; ++i)
        state->texts.add(data[i]);
    if (!error)
        state->texts.add(0);
    return error;
}

CUresult complete(CUlinkState state, void **image, size_t *nbytes)
{
    free(state->image);
    state->image = (char *)calloc(1, state->texts.n + 1);
    Room room = {state->image, state->texts.n};
    const CUresult error = as(ask_with(Payload{state->texts.items, state->texts.n}, &room, Call::link_images).status);
    give_logs(state->options, error);
    *image = error ? nullptr : state->image;
    if (nbytes)
        *nbytes = error ? 0 : room.nbytes + 1;
    return error;
}

} // namespace

extern "C" {
CUresult cuLinkCreate(unsigned int n, CUjit_option *options, void **values, CUlinkState *state)
{
    return driver_call([=] {
        JitOptions read;
        const CUresult error = state ? read_options(&read, n, options, values) : CUDA_ERROR_INVALID_VALUE;
        if (error)
            return error;
        *state = (CUlinkState)calloc(1, sizeof **state);
        (*state)->options = read;
        return CUDA_SUCCESS;
    });
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t nbytes, const char *, unsigned int n, CUjit_option *options,
                       void **values)
{
    return driver_call([=] {
        JitOptions read;
        const CUresult error = read_options(&read, n, options, values);
        if (error || !state || !data)
            return error ? error : state ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
        return add(state, type, (const char *)data, nbytes);
    });
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned int n, CUjit_option *options, void **values)
{
    return driver_call([=] {
        JitOptions read;
        CUresult error = read_options(&read, n, options, values);
        if (error || !state || !path)
            return error ? error : state ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
        char *text;
        error = read_file(&text, path);
        if (error)
            return error;
        error = add(state, type, text, strlen(text));
        free(text);
        return error;
    });
}
CUresult cuLinkComplete(CUlinkState state, void **image, size_t *nbytes)
{
    return driver_call([=] {
        if (!state || !image)
            return state ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
        return complete(state, image, nbytes);
    });
}
CUresult cuLinkDestroy(CUlinkState state)
{
    return driver_call([=] {
        if (!state)
            return CUDA_ERROR_INVALID_HANDLE;
        state->texts.clear();
        free(state->image);
        free(state);
        return CUDA_SUCCESS;
    });
}
}
