// Modules: PTX and fatbins that the program brings, and what is asked of them.
#include "driver_modules.h"

#include <stdio.h>
#include <string.h>

using namespace gpuprof;

namespace {

constexpr unsigned elf = 0x464c457f, fat_binary = 0xba55ed50, fat_wrapper = 0x466243b1;

struct FatHead { // a fatbin begins with its size
    unsigned magic;
    unsigned short version, nbytes;
    unsigned long long follows;
};
struct FatWrapper { // what __cudaRegisterFatBinary gets
    unsigned magic, version;
    const void *data, *unused;
};

List<CUmodule> all;

unsigned magic_of(const void *image)
{
    unsigned magic = 0;
    memcpy(&magic, image, strnlen((const char *)image, sizeof magic));
    return magic;
}

bool is_module(CUmodule module)
{
    Turn turn;
    return module && all.has(module) && !module->is_unloaded;
}

CUresult ask_image(unsigned long long *number, const void *image)
{
    if (magic_of(image) == fat_wrapper)
        image = ((const FatWrapper *)image)->data;
    if (magic_of(image) == elf)
        return CUDA_ERROR_NO_BINARY_FOR_GPU; // machine code, which is not emulated
    if (magic_of(image) == fat_binary) {
        const FatHead *head = (const FatHead *)image;
        const Reply reply = ask_with(Payload{head, head->nbytes + head->follows}, nullptr, Call::module);
        *number = reply.words[module_gives::module];
        return as(reply.status);
    }
    const Reply reply = ask_with(text((const char *)image), nullptr, Call::module_image);
    *number = reply.words[module_image_gives::module];
    return as(reply.status);
}

CUresult load_with(CUmodule *made, const void *image, unsigned n, const CUjit_option *options, void **values)
{
    JitOptions read;
    CUresult error = read_options(&read, n, options, values);
    if (error)
        return error;
    error = load_image(made, image);
    give_logs(read, error);
    return error;
}

CUresult load_file(CUmodule *made, const char *name, unsigned n, const CUjit_option *options, void **values)
{
    char *image;
    CUresult error = made && name ? read_file(&image, name) : CUDA_ERROR_INVALID_VALUE;
    if (error)
        return error;
    error = load_with(made, image, n, options, values);
    free(image);
    return error;
}

CUresult unload(CUmodule module)
{
    if (!is_module(module))
        return CUDA_ERROR_INVALID_HANDLE;
    module->is_unloaded = true; // its code stays: a launch may still be under way
    return CUDA_SUCCESS;
}

CUresult variable_of_module(CUdeviceptr *p, size_t *nbytes, CUmodule module, const char *name)
{
    if (!name || (!p && !nbytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_module(module))
        return CUDA_ERROR_INVALID_HANDLE;
    Variable variable = {};
    const CUresult error = as(ask_variable(module->number, name, &variable));
    if (p && !error)
        *p = variable.address;
    if (nbytes && !error)
        *nbytes = variable.nbytes;
    return error;
}

constexpr size_t most_names = 1 << 20; // bytes of them

// `each` gets the name of every kernel, in the order of the module's text.
template <typename Each> CUresult for_kernels(CUmodule module, Each each)
{
    if (!is_module(module))
        return CUDA_ERROR_INVALID_HANDLE;
    char *names = (char *)malloc(most_names);
    Room room = {names, most_names};
    const Reply reply = ask_with(Payload{}, &room, Call::kernels, module->number);
    CUresult error = as(reply.status);
    const char *name = names;
    for (unsigned long long i = 0; i < reply.words[kernels_gives::n] && !error; ++i, name += strlen(name) + 1)
        error = each(name);
    free(names);
    return error;
}

CUresult count_kernels(unsigned *n, CUmodule module)
{
    if (!n)
        return CUDA_ERROR_INVALID_VALUE;
    *n = 0;
    return for_kernels(module, [=](const char *) {
        ++*n;
        return CUDA_SUCCESS;
    });
}

CUresult list_kernels(CUfunction *functions, unsigned n, CUmodule module)
{
    if (!functions)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned done = 0;
    return for_kernels(module, [=, &done](const char *name) { return done < n ? find_function(&functions[done++], module, name) : CUDA_SUCCESS; });
}

CUmodule module_of(CUlibrary library) { return (CUmodule)library; }
CUfunction function_of(CUkernel kernel) { return (CUfunction)kernel; }

} // namespace

namespace gpuprof {

bool is_function(CUfunction function)
{
    Turn turn;
    for (CUmodule module : all)
        if (!module->is_unloaded && module->functions.has(function))
            return true;
    return false;
}

CUresult load_image(CUmodule *made, const void *image)
{
    if (!made || !image)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned long long number = 0;
    if (const CUresult error = ask_image(&number, image))
        return error;
    Turn turn;
    *made = (CUmodule)calloc(1, sizeof **made);
    (*made)->number = number;
    all.add(*made);
    return CUDA_SUCCESS;
}

CUresult find_function(CUfunction *found, CUmodule module, const char *name)
{
    if (!found || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_module(module))
        return CUDA_ERROR_INVALID_HANDLE;
    Turn turn;
    for (CUfunction each : module->functions)
        if (!strcmp(each->name, name)) {
            *found = each;
            return CUDA_SUCCESS;
        }
    Kernel kernel;
    if (const CUresult error = as(ask_kernel(module->number, name, &kernel)))
        return error;
    CUfunction made = (CUfunction)calloc(1, sizeof *made);
    made->module = module;
    made->name = strdup(name);
    made->kernel = kernel;
    made->most_dynamic_nbytes = kernel.attributes.maxDynamicSharedSizeBytes;
    made->carveout = cudaSharedmemCarveoutDefault;
    module->functions.add(made);
    add_kernel(made, made->name, kernel); // the runtime takes a function where it takes a kernel's address
    *found = made;
    return CUDA_SUCCESS;
}

CUresult read_file(char **text, const char *name)
{
    FILE *file = fopen(name, "rb");
    if (!file)
        return CUDA_ERROR_FILE_NOT_FOUND;
    size_t n = 0, room = 0, came = 0;
    *text = nullptr;
    do {
        if (room < n + 65537)
            *text = (char *)realloc(*text, room = 2 * room + 65537);
        came = fread(*text + n, 1, 65536, file);
        n += came;
    } while (came);
    fclose(file);
    (*text)[n] = 0;
    return CUDA_SUCCESS;
}

// The length of a log is the number that stands in place of a pointer.
CUresult read_options(JitOptions *to, unsigned n, const CUjit_option *options, void **values)
{
    *to = {};
    if (n && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < n; ++i)
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER: to->error.bytes = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER: to->info.bytes = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            to->error.nbytes = (unsigned)(size_t)values[i];
            to->error_length = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            to->info.nbytes = (unsigned)(size_t)values[i];
            to->info_length = &values[i];
            break;
        case CU_JIT_WALL_TIME: to->wall_time = &values[i]; break;
        default:
            if ((unsigned)options[i] >= CU_JIT_NUM_OPTIONS)
                return CUDA_ERROR_INVALID_VALUE;
        }
    return CUDA_SUCCESS;
}

void give_logs(const JitOptions &options, CUresult result)
{
    size_t length = 0;
    if (options.error.bytes && options.error.nbytes) {
        Room room = {options.error.bytes, options.error.nbytes - 1};
        if (result)
            ask_with(Payload{}, &room, Call::last_text, room.nbytes);
        length = result ? room.nbytes : 0;
        ((char *)options.error.bytes)[length] = 0;
    }
    if (options.info.bytes && options.info.nbytes)
        *(char *)options.info.bytes = 0;
    if (options.error_length)
        *options.error_length = (void *)length;
    if (options.info_length)
        *options.info_length = nullptr;
    if (options.wall_time)
        *options.wall_time = nullptr; // the bits of 0.0f: assembling is no time of the program's
}

} // namespace gpuprof

extern "C" {
CUresult cuModuleLoad(CUmodule *module, const char *file)
{
    return driver_call([=] { return load_file(module, file, 0, nullptr, nullptr); });
}
CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return driver_call([=] { return load_image(module, image); });
}
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n, CUjit_option *options, void **values)
{
    return driver_call([=] { return load_with(module, image, n, options, values); });
}
CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return driver_call([=] { return load_image(module, image); });
}
CUresult cuModuleUnload(CUmodule module)
{
    return driver_call([=] { return unload(module); });
}
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    return driver_call<Needs::cu_init>([=] {
        const char *asked = getenv("CUDA_MODULE_LOADING");
        if (mode)
            *mode = asked && !strcmp(asked, "EAGER") ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
        return result_of(mode);
    });
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    return driver_call([=] { return find_function(function, module, name); });
}
CUresult cuModuleGetFunctionCount(unsigned int *n, CUmodule module)
{
    return driver_call([=] { return count_kernels(n, module); });
}
CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int n, CUmodule module)
{
    return driver_call([=] { return list_kernels(functions, n, module); });
}
CUresult cuModuleGetGlobal(CUdeviceptr *p, size_t *nbytes, CUmodule module, const char *name)
{
    return driver_call([=] { return variable_of_module(p, nbytes, module, name); });
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options, void **values, unsigned int n, CUlibraryOption *, void **,
                           unsigned int)
{
    return driver_call<Needs::cu_init>([=] { return load_with((CUmodule *)library, code, n, options, values); });
}
CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *file, CUjit_option *options, void **values, unsigned int n, CUlibraryOption *, void **,
                               unsigned int)
{
    return driver_call<Needs::cu_init>([=] { return load_file((CUmodule *)library, file, n, options, values); });
}
CUresult cuLibraryUnload(CUlibrary library)
{
    return driver_call<Needs::cu_init>([=] { return unload(module_of(library)); });
}
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    return driver_call<Needs::cu_init>([=] { return find_function((CUfunction *)kernel, module_of(library), name); });
}
CUresult cuLibraryGetKernelCount(unsigned int *n, CUlibrary library)
{
    return driver_call<Needs::cu_init>([=] { return count_kernels(n, module_of(library)); });
}
CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int n, CUlibrary library)
{
    return driver_call<Needs::cu_init>([=] { return list_kernels((CUfunction *)kernels, n, module_of(library)); });
}
CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    return driver_call([=] {
        if (module && is_module(module_of(library)))
            *module = module_of(library);
        return !module ? CUDA_ERROR_INVALID_VALUE : is_module(module_of(library)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
}
CUresult cuLibraryGetGlobal(CUdeviceptr *p, size_t *nbytes, CUlibrary library, const char *name)
{
    return driver_call([=] { return variable_of_module(p, nbytes, module_of(library), name); });
}
// A module's text does not say which of its variables are managed.
CUresult cuLibraryGetManaged(CUdeviceptr *p, size_t *nbytes, CUlibrary library, const char *name)
{
    return driver_call<Needs::cu_init>([=] { return variable_of_module(p, nbytes, module_of(library), name); });
}
CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    return driver_call([=] {
        if (!function || !is_function(function_of(kernel)))
            return function ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
        *function = function_of(kernel);
        return CUDA_SUCCESS;
    });
}
CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
    return driver_call<Needs::cu_init>([=] {
        if (!library || !is_function(function_of(kernel)))
            return library ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
        *library = (CUlibrary)function_of(kernel)->module;
        return CUDA_SUCCESS;
    });
}
}
