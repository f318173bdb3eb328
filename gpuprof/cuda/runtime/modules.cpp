// What clang's start-up code registers. Nothing is sent before it is used.
#include "modules.h"
#include "arena.h"
#include "list.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

namespace gpuprof {
namespace {

struct Module {
    const char *key; // gpuprof's own, or a fatbin of nvcc's
    bool is_loaded, is_linked; // with the device code of others
    cudaError_t status;
    unsigned long long number;
};

struct Named { // a kernel or a variable
    Module *module;
    const void *address;
    const char *symbol;
    bool is_known;
    Kernel kernel;
    Variable variable;
    cudaError_t status;
};

struct Managed { // a `__managed__` variable
    Module *module;
    const char *symbol;
    const void *address;
};
List<Managed> managed;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Named **table = nullptr; // open addressing; its length is a power of two, at most half full
size_t capacity = 0, n_named = 0;

size_t place_of(Named **in, size_t n, const void *address)
{
    size_t at = ((size_t)address >> 4) * 0x9e3779b97f4a7c15ull & (n - 1);
    while (in[at] && in[at]->address != address)
        at = (at + 1) & (n - 1);
    return at;
}

Named *find(const void *address) { return capacity ? table[place_of(table, capacity, address)] : nullptr; }

void add(Named *one)
{
    if (2 * (n_named + 1) > capacity) {
        const size_t larger = capacity ? 2 * capacity : 64;
        Named **moved = (Named **)calloc(larger, sizeof *moved);
        for (size_t i = 0; i < capacity; ++i)
            if (table[i])
                moved[place_of(moved, larger, table[i]->address)] = table[i];
        free(table);
        table = moved;
        capacity = larger;
    }
    Named *&place = table[place_of(table, capacity, one->address)];
    n_named += !place;
    place = one;
}

void add(void **handle, const void *address, const char *symbol)
{
    Named *one = (Named *)calloc(1, sizeof *one);
    one->module = (Module *)handle;
    one->address = address;
    one->symbol = symbol;
    pthread_mutex_lock(&lock);
    add(one);
    pthread_mutex_unlock(&lock);
}

// A fatbin begins with its size; our keys are text.
Payload key_of(const Module *module)
{
    struct Head {
        unsigned magic;
        unsigned short version, nbytes;
        unsigned long long follows;
    };
    const Head *head = (const Head *)module->key;
    return head->magic == 0xba55ed50 ? Payload{head, head->nbytes + head->follows} : text(module->key);
}

// The device's variables lie where the host's are.
void place_managed(const Module *module)
{
    for (const Managed &one : managed)
        if (one.module == module || (one.module->is_linked && module->is_linked))
            ask_with(text(one.symbol), nullptr, Call::place, one.address);
}

cudaError_t load(Module *module)
{
    if (!module->is_loaded) {
        place_managed(module);
        const Reply reply = ask_with(key_of(module), nullptr, Call::module);
        module->number = reply.words[module_gives::module];
        module->status = reply.status;
        module->is_loaded = true;
    }
    return module->status;
}

// At the program's start: it may use the variables before anything else of the module.
void load_managed(bool is_linked)
{
    Unlisted parts;
    for (const Managed &one : managed)
        if (one.module->is_linked == is_linked)
            load(one.module); // the program meets an error of it when it launches
}

__attribute__((constructor)) void load_linked() { load_managed(true); } // after those of the program's files

void learn_kernel(Named *one) { one->status = ask_kernel(one->module->number, one->symbol, &one->kernel); }
void learn_variable(Named *one) { one->status = ask_variable(one->module->number, one->symbol, &one->variable); }

Named *known(const void *address, void (*learn)(Named *))
{
    Turn turn; // before the lock: who has the turn may ask for a kernel
    pthread_mutex_lock(&lock);
    Named *one = find(address);
    if (one && !one->is_known) {
        one->status = load(one->module);
        if (!one->status)
            learn(one);
        one->is_known = true;
    }
    pthread_mutex_unlock(&lock);
    return one;
}

constexpr unsigned most_params = 32764; // CUDA allows as many bytes of them

} // namespace

cudaError_t ask_kernel(unsigned long long module, const char *symbol, Kernel *found)
{
    Parameter *params = (Parameter *)malloc(most_params * sizeof(Parameter));
    Room room = {params, most_params * sizeof(Parameter)};
    const Reply reply = ask_with(text(symbol), &room, Call::function, module);
    if (reply.status) {
        free(params);
        return reply.status;
    }
    namespace at = function_gives;
    Kernel kernel = {};
    kernel.function = reply.words[at::function];
    kernel.n_params = (unsigned)reply.words[at::n_params];
    Parameter *copy = (Parameter *)realloc(params, room.nbytes + 1);
    kernel.params = copy;
    for (unsigned i = 0; i < kernel.n_params; ++i)
        if (copy[i].offset + copy[i].nbytes > kernel.params_nbytes)
            kernel.params_nbytes = copy[i].offset + copy[i].nbytes;
    cudaFuncAttributes &known = kernel.attributes;
    known.sharedSizeBytes = reply.words[at::shared_nbytes];
    known.constSizeBytes = reply.words[at::const_nbytes];
    known.localSizeBytes = reply.words[at::local_nbytes];
    known.maxThreadsPerBlock = (int)reply.words[at::max_threads];
    known.numRegs = (int)reply.words[at::registers];
    known.preferredShmemCarveout = cudaSharedmemCarveoutDefault;
    known.ptxVersion = known.binaryVersion = (int)reply.words[at::arch];
    known.maxDynamicSharedSizeBytes = (int)reply.words[at::most_dynamic_nbytes];
    kernel.symbol = strdup(symbol);
    *found = kernel;
    return cudaSuccess;
}

void add_kernel(const void *handle, const char *symbol, const Kernel &kernel)
{
    Named *one = (Named *)calloc(1, sizeof *one);
    one->address = handle;
    one->symbol = symbol;
    one->kernel = kernel;
    one->is_known = true;
    pthread_mutex_lock(&lock);
    add(one);
    pthread_mutex_unlock(&lock);
}

cudaError_t ask_variable(unsigned long long module, const char *symbol, Variable *found)
{
    const Reply reply = ask_with(text(symbol), nullptr, Call::variable, module);
    *found = {reply.words[variable_gives::address], reply.words[variable_gives::nbytes]};
    return reply.status;
}

const Kernel *kernel_of(const void *stub, cudaError_t *status)
{
    const Named *one = known(stub, learn_kernel);
    *status = one ? one->status : cudaErrorInvalidDeviceFunction;
    return *status ? nullptr : &one->kernel;
}

const Kernel *kernel_to_launch(const void *stub, cudaError_t *status)
{
    const Kernel *found = kernel_of(stub, status);
    if (const Named *one = found ? nullptr : known(stub, learn_kernel))
        not_launched(one->symbol);
    return found;
}

cudaError_t variable_of(const void *shadow, Variable *found)
{
    const Named *one = known(shadow, learn_variable);
    if (one)
        *found = one->variable;
    return one ? one->status : cudaErrorInvalidSymbol;
}

} // namespace gpuprof

// clang's CGCUDANV.cpp writes the calls of these.
extern "C" {
struct GpuprofFatBinary {
    int magic, version;
    const char *key; // the blob that gpuprof gave clang
    void *unused;
};

void **__cudaRegisterFatBinary(void *wrapper)
{
    gpuprof::Module *module = (gpuprof::Module *)calloc(1, sizeof *module);
    module->key = ((GpuprofFatBinary *)wrapper)->key;
    return (void **)module;
}
// Of an object whose device code is linked with others': see device_link.py.
void gpuprof_register_linked(void (*globals)(void **), void *wrapper)
{
    void **handle = __cudaRegisterFatBinary(wrapper);
    ((gpuprof::Module *)handle)->is_linked = true;
    globals(handle);
}
void __cudaRegisterFatBinaryEnd(void **) { gpuprof::load_managed(false); }
char __cudaInitModule(void **) { return 0; }
void __cudaUnregisterFatBinary(void **) {}
void __cudaRegisterFunction(void **handle, const char *stub, char *, const char *symbol, int, void *, void *, void *, void *, int *)
{
    gpuprof::add(handle, stub, symbol);
}
void __cudaRegisterVar(void **handle, char *shadow, char *, const char *symbol, int, size_t, int, int)
{
    gpuprof::add(handle, shadow, symbol);
    if (gpuprof::is_managed_variable(shadow))
        gpuprof::managed.add({(gpuprof::Module *)handle, symbol, shadow});
}
}
