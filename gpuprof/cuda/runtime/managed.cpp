// `__managed__` variables: the host has one in a section of its own, the device has one in its module.
#include "list.h"
#include "modules.h"
#include "open_memory.h"
#include "registered.h"

using namespace gpuprof;

// The linker makes these where a program has such variables.
extern "C" __attribute__((weak)) char __start_gpuprof_managed[], __stop_gpuprof_managed[];

namespace {

struct Managed {
    char *shadow, *device;
    size_t nbytes;
    char *known; // its bytes when both were alike
};
List<Managed> all;
size_t n_learned = 0;
bool is_stale = false; // the device has worked since the host took its bytes

void take(const Managed &one)
{
    Room room = {one.known, one.nbytes};
    if (!ask_with(Payload{}, &room, Call::copy_out, one.device, one.nbytes, 0).status)
        memcpy(one.shadow, one.known, one.nbytes);
}

} // namespace

namespace gpuprof {

void add_managed(const char *shadow, size_t nbytes)
{
    if (shadow >= __start_gpuprof_managed && shadow < __stop_gpuprof_managed)
        all.add({(char *)shadow, nullptr, nbytes, (char *)malloc(nbytes)});
}

void learn_managed()
{
    Unlisted parts;
    for (; n_learned < all.n; ++n_learned) {
        Managed &one = all[n_learned];
        Variable variable;
        if (variable_of(one.shadow, &variable))
            continue; // the program meets the error when it launches
        one.device = (char *)variable.address;
        take(one);
    }
    if (all.n)
        after_wait = take_from_device;
}

cudaError_t give_to_device()
{
    is_stale = true;
    Unlisted parts;
    for (const Managed &one : all) {
        if (!one.device || !memcmp(one.shadow, one.known, one.nbytes))
            continue;
        memcpy(one.known, one.shadow, one.nbytes);
        if (const cudaError_t status = ask_with(Payload{one.known, one.nbytes}, nullptr, Call::copy_in, one.device, 0).status)
            return status;
    }
    return cudaSuccess;
}

void take_from_device()
{
    if (!is_stale)
        return;
    is_stale = false;
    Unlisted parts;
    for (const Managed &one : all)
        if (one.device)
            take(one);
}

void to_device_address(void **p)
{
    for (const Managed &one : all)
        if ((char *)*p >= one.shadow && (char *)*p < one.shadow + one.nbytes) {
            *p = one.device + ((char *)*p - one.shadow);
            return;
        }
    if (void *device = device_address(*p))
        *p = device;
}

} // namespace gpuprof
