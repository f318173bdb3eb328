// Device code that a program loads itself, and the handles of its kernels: what the runtime's launches take as well.
#include "list.h"
#include "modules.h"
#include "runtime_libraries.h"

#include <stdio.h>

using namespace gpuprof;

struct CUkern_st {
    char *name;
};
struct CUlib_st {
    unsigned long long number;
    List<cudaKernel_t> kernels; // those that were asked for
    List<char *> names;         // of all
};

namespace {

constexpr unsigned elf = 0x464c457f, fat_binary = 0xba55ed50;

// PTX ends with a zero; what nvcc makes begins with its size.
bool image_of(const void *code, Payload *image, Call *call)
{
    struct Wrapper { // around nvcc's image
        unsigned magic, version;
        const void *image;
    };
    struct Head {
        unsigned magic;
        unsigned short version, nbytes;
        unsigned long long follows;
    };
    unsigned magic = 0;
    memcpy(&magic, code, strnlen((const char *)code, sizeof magic));
    if (magic == 0x466243b1)
        return image_of(((const Wrapper *)code)->image, image, call);
    if (magic == elf)
        return false;
    const Head *head = (const Head *)code;
    *call = magic == fat_binary ? Call::module : Call::module_image;
    *image = magic == fat_binary ? Payload{head, head->nbytes + head->follows} : text((const char *)code);
    return true;
}

cudaError_t load(cudaLibrary_t *made, const void *code)
{
    Payload image;
    Call call;
    if (!made || !code || !image_of(code, &image, &call))
        return made && code ? cudaErrorNoKernelImageForDevice : cudaErrorInvalidValue;
    const Reply reply = ask_with(image, nullptr, call);
    if (reply.status)
        return reply.status;
    *made = (cudaLibrary_t)calloc(1, sizeof **made);
    (*made)->number = reply.words[module_gives::module];
    return cudaSuccess;
}

cudaError_t load_file(cudaLibrary_t *made, const char *name)
{
    FILE *file = made && name ? fopen(name, "rb") : nullptr;
    if (!file)
        return made && name ? cudaErrorFileNotFound : cudaErrorInvalidValue;
    fseek(file, 0, SEEK_END);
    const long nbytes = ftell(file);
    rewind(file);
    char *code = (char *)calloc(1, nbytes + 1);
    const bool is_read = nbytes >= 0 && fread(code, 1, nbytes, file) == (size_t)nbytes;
    fclose(file);
    const cudaError_t status = is_read ? load(made, code) : cudaErrorInvalidValue;
    free(code);
    return status;
}

cudaError_t learn_names(cudaLibrary_t library)
{
    if (library->names.n)
        return cudaSuccess;
    Room room = {malloc(1 << 20), 1 << 20};
    const Reply reply = ask_with(Payload{}, &room, Call::kernels, library->number);
    const char *at = (const char *)room.bytes;
    for (unsigned long long i = 0; i < reply.words[kernels_gives::n] && !reply.status; ++i) {
        library->names.add(strdup(at));
        at += strlen(at) + 1;
    }
    free(room.bytes);
    return reply.status;
}

cudaError_t kernel_named(cudaKernel_t *found, cudaLibrary_t library, const char *name)
{
    if (!found || !library || !name)
        return library ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    Turn turn;
    for (cudaKernel_t each : library->kernels)
        if (!strcmp(each->name, name)) {
            *found = each;
            return cudaSuccess;
        }
    Kernel kernel;
    if (const cudaError_t status = ask_kernel(library->number, name, &kernel))
        return status == cudaErrorInvalidDeviceFunction ? cudaErrorSymbolNotFound : status;
    *found = (cudaKernel_t)malloc(sizeof **found);
    (*found)->name = strdup(name);
    add_kernel(*found, (*found)->name, kernel);
    library->kernels.add(*found);
    return cudaSuccess;
}

cudaError_t global_named(void **p, size_t *nbytes, cudaLibrary_t library, const char *name)
{
    if (!library || !name)
        return library ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    Variable found = {};
    const cudaError_t status = ask_variable(library->number, name, &found);
    if (p)
        *p = (void *)found.address;
    if (nbytes)
        *nbytes = found.nbytes;
    return status == cudaErrorInvalidSymbol ? cudaErrorSymbolNotFound : status;
}

} // namespace

extern "C" {
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, cudaJitOption *, void **, unsigned int, cudaLibraryOption *, void **,
                                unsigned int)
{
    return result(load(library, code));
}
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *file, cudaJitOption *, void **, unsigned int, cudaLibraryOption *, void **,
                                    unsigned int)
{
    return result(load_file(library, file));
}
// Its code stays loaded, as a launch may still be under way.
cudaError_t cudaLibraryUnload(cudaLibrary_t library) { return result(library ? cudaSuccess : cudaErrorInvalidResourceHandle); }
cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    return result(kernel_named(kernel, library, name));
}
cudaError_t cudaLibraryGetGlobal(void **p, size_t *nbytes, cudaLibrary_t library, const char *name)
{
    return result(global_named(p, nbytes, library, name));
}
// Variables of a library that the host shares have no place of the host's.
cudaError_t cudaLibraryGetManaged(void **, size_t *, cudaLibrary_t library, const char *)
{
    return result(library ? cudaErrorSymbolNotFound : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaLibraryGetKernelCount(unsigned int *n, cudaLibrary_t library)
{
    const cudaError_t status = n && library ? learn_names(library) : cudaErrorInvalidValue;
    if (!status)
        *n = (unsigned)library->names.n;
    return result(status);
}
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int n, cudaLibrary_t library)
{
    cudaError_t status = kernels && library ? learn_names(library) : cudaErrorInvalidValue;
    for (unsigned i = 0; !status && i < n && i < library->names.n; ++i)
        status = kernel_named(kernels + i, library, library->names[i]);
    return result(status);
}
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device)
{
    return device ? result(cudaErrorInvalidDevice) : cudaFuncSetAttribute(kernel, attribute, value);
}
cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
    cudaError_t status;
    if (kernel_of(function, &status) && kernel)
        *kernel = (cudaKernel_t)function;
    return result(!status && !kernel ? cudaErrorInvalidValue : status);
}
}
