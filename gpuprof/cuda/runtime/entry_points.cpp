// The driver's calls by their names: of cuGetProcAddress, and of a program that opens the driver's library itself.
#include "channel.h"
#include "gpuprof/driver.h"
#include "gpuprof/driver_names.h"

#include <string.h>

namespace {

struct EntryPoint {
    const char *name;
    void *function;
};
#define GPUPROF_ENTRY_POINT(NAME) {#NAME, (void *)NAME},
const EntryPoint entry_points[] = {GPUPROF_DRIVER_CALLS(GPUPROF_ENTRY_POINT)};
#undef GPUPROF_ENTRY_POINT

// Symbols of the library have a version after the call's name: cuMemAlloc_v2.
size_t bare_length(const char *name)
{
    const size_t n = strlen(name);
    return n > 3 && name[n - 3] == '_' && name[n - 2] == 'v' ? n - 3 : n;
}
void *entry_point(const char *name)
{
    const size_t n = bare_length(name);
    for (const EntryPoint &each : entry_points)
        if (strlen(each.name) == n && !memcmp(each.name, name, n))
            return each.function;
    return nullptr;
}

[[maybe_unused]] bool is_driver(const char *file)
{
    static const char driver[] = "libcuda.so";
    return file && !strncmp(file, driver, sizeof driver - 1);
}

// What is not there is named on stderr, with the line that asks for it.
void *found_or_refused(const char *name)
{
    void *found = entry_point(name);
    if (!found)
        gpuprof::ask_with(gpuprof::text(name), nullptr, Call::refuse);
    return found;
}

} // namespace

extern "C" {
CUresult cuGetProcAddress(const char *name, void **function, int, unsigned long long, CUdriverProcAddressQueryResult *how)
{
    if (!name || !function)
        return CUDA_ERROR_INVALID_VALUE;
    *function = found_or_refused(name);
    if (how)
        *how = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// With a place for `how` it is no error that a name is not there.
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned int, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult *how)
{
    if (!name || !*name || !function || flags > cudaEnablePerThreadDefaultStream)
        return gpuprof::result(cudaErrorInvalidValue);
    *function = found_or_refused(name);
    if (how)
        *how = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return gpuprof::result(*function || how ? cudaSuccess : cudaErrorSymbolNotFound);
}
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, cudaDriverEntryPointQueryResult *how)
{
    return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, how);
}

#if defined GPUPROF_STATIC // a static program can open no library; musl's functions say no more than that
void *dlopen(const char *file, int) { return is_driver(file) ? (void *)entry_points : nullptr; }
void *dlsym(void *library, const char *name) { return library == entry_points && name ? found_or_refused(name) : nullptr; }
int dlclose(void *) { return 0; }
char *dlerror(void)
{
    static char text[] = "a program that gpuprof has built is static: it can only open libcuda.so.1";
    return text;
}
#elif defined GPUPROF_DYNAMIC // the linker gives the program these in place of the C library's
void *__real_dlopen(const char *, int);
void *__real_dlsym(void *, const char *);
int __real_dlclose(void *);
void *__wrap_dlopen(const char *file, int mode) { return is_driver(file) ? (void *)entry_points : __real_dlopen(file, mode); }
void *__wrap_dlsym(void *library, const char *name) { return library == entry_points ? found_or_refused(name) : __real_dlsym(library, name); }
int __wrap_dlclose(void *library) { return library == entry_points ? 0 : __real_dlclose(library); }
#endif
}
