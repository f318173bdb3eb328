// The driver's calls by their names: of cuGetProcAddress, and of a program that opens the driver's library itself.
#include "channel.h"
#include "gpuprof/driver_forms.h"
#include "gpuprof/driver_names.h"

#include <string.h>

namespace {

struct EntryPoint {
    const char *name;
    void *function;
    int release;
};
#define GPUPROF_ENTRY_POINT(NAME, FUNCTION, RELEASE) {#NAME, (void *)FUNCTION, RELEASE},
const EntryPoint newest[] = {GPUPROF_DRIVER_CALLS(GPUPROF_ENTRY_POINT)};
const EntryPoint older[] = {GPUPROF_OLDER_DRIVER_CALLS(GPUPROF_ENTRY_POINT)};
// Symbols have a version after the name, and may say which default stream they have: cuMemcpyHtoD_v2_ptds.
const EntryPoint versioned[] = {{"cuCtxCreate_v2", (void *)cuCtxCreate_v2, 0},
                                {"cuCtxCreate_v3", (void *)cuCtxCreate_v3, 0},
                                {"cuStreamGetCtx_v2", (void *)cuStreamGetCtx_v2, 0}};
#undef GPUPROF_ENTRY_POINT

bool is_name(const EntryPoint &each, const char *name, size_t n) { return strlen(each.name) == n && !memcmp(each.name, name, n); }

size_t length_without_stream(const char *name)
{
    const size_t n = strlen(name);
    return n > 5 && (!strcmp(name + n - 5, "_ptsz") || !strcmp(name + n - 5, "_ptds")) ? n - 5 : n;
}
size_t length_without_version(const char *name, size_t n) { return n > 3 && name[n - 3] == '_' && name[n - 2] == 'v' ? n - 3 : n; }

// The symbol of a library: without a version it is the newest form, which all programs of today want.
void *symbol(const char *name)
{
    const size_t n = length_without_stream(name), bare = length_without_version(name, n);
    for (const EntryPoint &each : versioned)
        if (is_name(each, name, n))
            return each.function;
    for (const EntryPoint &each : newest)
        if (is_name(each, name, bare))
            return each.function;
    return nullptr;
}

[[maybe_unused]] bool is_driver(const char *file)
{
    static const char driver[] = "libcuda.so";
    return file && !strncmp(file, driver, sizeof driver - 1);
}

// The newest form that a release has. `is_known`: a later one has the name.
void *form_of_release(const char *name, int release, bool *is_known)
{
    const size_t n = length_without_version(name, strlen(name));
    void *found = nullptr;
    for (const EntryPoint &each : older)
        if (is_name(each, name, n) && each.release <= release)
            found = each.function;
    for (const EntryPoint &each : newest)
        if (is_name(each, name, n)) {
            *is_known = true;
            found = each.release <= release ? each.function : found;
        }
    return found;
}

// What is not there is named on stderr, with the line that asks for it.
void refuse(const char *name) { gpuprof::ask_with(gpuprof::text(name), nullptr, Call::refuse); }

[[maybe_unused]] void *symbol_or_refused(const char *name)
{
    void *found = symbol(name);
    if (!found)
        refuse(name);
    return found;
}

} // namespace

extern "C" {
CUresult cuGetProcAddress(const char *name, void **function, int release, cuuint64_t flags, CUdriverProcAddressQueryResult *how)
{
    if (!name || !function || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    bool is_known = false;
    *function = form_of_release(name, release, &is_known);
    if (how)
        *how = *function ? CU_GET_PROC_ADDRESS_SUCCESS : is_known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (!is_known)
        refuse(name);
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// With a place for `how` it is no error that a name is not there.
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned int release, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult *how)
{
    if (!name || !*name || !function || flags > cudaEnablePerThreadDefaultStream)
        return gpuprof::result(cudaErrorInvalidValue);
    CUdriverProcAddressQueryResult found; // its numbers are the runtime's
    cuGetProcAddress(name, function, (int)release, flags, &found);
    if (how)
        *how = (cudaDriverEntryPointQueryResult)found;
    return gpuprof::result(*function || how ? cudaSuccess : cudaErrorSymbolNotFound);
}
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, cudaDriverEntryPointQueryResult *how)
{
    return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, how);
}

#if defined GPUPROF_STATIC // a static program can open no library; musl's functions say no more than that
void *dlopen(const char *file, int) { return is_driver(file) ? (void *)newest : nullptr; }
void *dlsym(void *library, const char *name) { return library == newest && name ? symbol_or_refused(name) : nullptr; }
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
void *__wrap_dlopen(const char *file, int mode) { return is_driver(file) ? (void *)newest : __real_dlopen(file, mode); }
void *__wrap_dlsym(void *library, const char *name) { return library == newest ? symbol_or_refused(name) : __real_dlsym(library, name); }
int __wrap_dlclose(void *library) { return library == newest ? 0 : __real_dlclose(library); }
#endif
}
