#include "arena.h"
#include "captures.h"
#include "contexts.h"
#include "touches.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// `__managed__` variables: the linker puts them where device memory begins, so that their addresses are the device's,
// and makes these where a program has such variables.
#ifdef __x86_64__
#define FAR __attribute__((model("large")))
#else
#define FAR
#endif
extern "C" {
FAR extern __attribute__((weak)) char __start_gpuprof_managed[];
FAR extern __attribute__((weak)) char __stop_gpuprof_managed[];
}

namespace gpuprof {
namespace {

// The linker puts it behind device memory where a program has `__managed__` variables, and the system the heap after it.
FAR __attribute__((section("gpuprof_heap"), used)) char before_heap = 0;

struct Allocation {
    char *start;
    size_t nbytes;
    Kind kind;
    const void *context;
    unsigned long long number;
    bool is_mapped;
    Allocation *next;
};
unsigned long long n_allocations = 0;

char *base = nullptr, *end = nullptr, *staged = nullptr;
Allocation *live = nullptr;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct sigaction before;

void write_text(const char *s) { (void)!write(2, s, strlen(s)); }

void write_hex(size_t value)
{
    char digits[19] = "0x", *at = digits + 2;
    int shift = 60;
    while (shift && !(value >> shift))
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        *at++ = "0123456789abcdef"[value >> shift & 15];
    *at = 0;
    write_text(digits);
}

// The host has touched device memory: that is said, and the fault goes its way. One that was sent, as by `raise`, is
// sent again: it would not come back by itself.
void on_fault(int signal, siginfo_t *info, void *)
{
    const bool is_sent = info->si_code <= 0; // sigaction(2): its si_addr is no address
    if (!is_sent && is_device(info->si_addr)) {
        write_text("gpuprof: host code touched device memory at ");
        write_hex((size_t)info->si_addr);
        write_text("; copy it with cudaMemcpy, or allocate it with cudaMallocManaged\n");
    }
    sigaction(signal, &before, nullptr);
    if (is_sent)
        raise(signal);
}

unsigned long long number_in(const char *name, int base_of_digits)
{
    const char *text = getenv(name);
    return text ? strtoull(text, nullptr, base_of_digits) : 0;
}

// The first allocation, so it has the addresses that the linker gave the variables. Their modules bring their values.
void open_managed(size_t nbytes)
{
    Unlisted parts;
    void *start = nullptr;
    if (allocate(&start, nbytes, managed_memory, "__managed__ variables") || (nbytes && start != __start_gpuprof_managed)) {
        write_text("gpuprof: there is no memory for __managed__ variables\n");
        _exit(125);
    }
}

__attribute__((constructor(102))) void map_arena() // before the program's own constructors
{
    const size_t nbytes = number_in("GPUPROF_ARENA_NBYTES", 10);
    if (!nbytes)
        return;
    char *wanted = (char *)number_in("GPUPROF_ARENA_BASE", 16);
    const int fd = (int)number_in("GPUPROF_ARENA", 10);
    const size_t managed_nbytes = (size_t)(__stop_gpuprof_managed - __start_gpuprof_managed);
    if (managed_nbytes && wanted + nbytes > &before_heap) {
        write_text("gpuprof: a program with __managed__ variables can have less device memory than this chip has\n");
        _exit(125);
    }
    const int place = managed_nbytes ? MAP_FIXED : MAP_FIXED_NOREPLACE; // over the variables
    base = (char *)mmap(wanted, nbytes, PROT_NONE, MAP_SHARED | place | MAP_NORESERVE, fd, 0);
    if (base != wanted) {
        perror("gpuprof: device memory cannot be mapped");
        _exit(125);
    }
    close(fd); // the mapping stays; what the program starts must not inherit it
    const int staging_fd = (int)number_in("GPUPROF_STAGING", 10);
    staged = (char *)mmap(nullptr, staging_nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, staging_fd, 0);
    if (staged == MAP_FAILED) {
        perror("gpuprof: memory for copies cannot be mapped");
        _exit(125);
    }
    close(staging_fd);
    end = base + nbytes;
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &before);
    open_managed(managed_nbytes);
}

size_t page_up(size_t nbytes) { return (nbytes + 4095) / 4096 * 4096; }

} // namespace

char *staging() { return staged; }

bool fits(const void *address, size_t nbytes) { return is_device(address) && nbytes <= (size_t)(end - (char *)address); }

bool is_managed_variable(const void *address)
{
    return (const char *)address >= __start_gpuprof_managed && (const char *)address < __stop_gpuprof_managed;
}

bool is_device(const void *address) { return (char *)address >= base && (char *)address < end; }

namespace {

void add(char *start, size_t nbytes, Kind kind, bool is_mapped)
{
    pthread_mutex_lock(&lock);
    Allocation *one = (Allocation *)malloc(sizeof *one);
    *one = {start, nbytes, kind, current_context(), ++n_allocations, is_mapped, live};
    live = one;
    pthread_mutex_unlock(&lock);
}

// Null: none begins there.
Allocation *taken_out(const void *start, bool is_mapped)
{
    pthread_mutex_lock(&lock);
    Allocation **at = &live;
    while (*at && ((*at)->start != start || (*at)->is_mapped != is_mapped))
        at = &(*at)->next;
    Allocation *one = *at;
    if (one)
        *at = one->next;
    pthread_mutex_unlock(&lock);
    return one;
}

} // namespace

void add_mapped(char *start, size_t nbytes) { add(start, nbytes, device_memory, true); }
void drop_mapped(const char *start) { free(taken_out(start, true)); }


namespace {

cudaError_t take(void **p, size_t nbytes, Kind kind, const Reply &reply)
{
    if (reply.status)
        return reply.status;
    char *start = (char *)reply.words[allocate_gives::address];
    if (kind != device_memory && mprotect(start, page_up(nbytes), PROT_READ | PROT_WRITE))
        return cudaErrorMemoryAllocation;
    add(start, nbytes, kind, false);
    if (kind == managed_memory)
        watch_touches(start, nbytes);
    *p = start;
    return cudaSuccess;
}

// The host can no longer touch it. What it has touched is forgotten, so that the next allocation there begins anew.
void close(const Allocation &one)
{
    if (one.kind == managed_memory)
        end_watch(one.start);
    if (one.kind == device_memory)
        return;
    madvise(one.start, page_up(one.nbytes), MADV_DONTNEED);
    mprotect(one.start, page_up(one.nbytes), PROT_NONE);
}

// `how`: the call, once it is known to be an allocation.
template <typename How> cudaError_t release_by(void *p, How how)
{
    if (!p)
        return cudaSuccess;
    report_touches(); // results that the host has read are often freed next
    Allocation *one = taken_out(p, false);
    if (!one) // the other side reports what was freed before
        return is_device(p) ? ask(Call::free, p).status : cudaErrorInvalidValue;
    close(*one);
    free(one);
    return how().status;
}

bool is_of_kind(const void *p, bool is_pinned)
{
    const void *start;
    return (kind_of(p, &start) == pinned_memory) == is_pinned || !start;
}

} // namespace

cudaError_t allocate(void **p, size_t nbytes, Kind kind, const char *name)
{
    if (!p)
        return cudaErrorInvalidValue;
    *p = nullptr;
    if (!nbytes)
        return cudaSuccess;
    const cudaError_t status = check_unsafe();
    return status ? status : take(p, nbytes, kind, ask_with(text(name), nullptr, Call::allocate, nbytes, (int)kind));
}

cudaError_t allocate_in_order(void **p, size_t nbytes, const char *name)
{
    if (!p)
        return cudaErrorInvalidValue;
    *p = nullptr;
    return nbytes ? take(p, nbytes, device_memory, ask_with(text(name), nullptr, Call::allocate_later, nbytes)) : cudaSuccess;
}

cudaError_t release(void *p)
{
    const cudaError_t status = p ? check_unsafe() : cudaSuccess;
    return status ? status : release_by(p, [=] { return ask(Call::free, p); });
}
cudaError_t release_device(void *p) { return !p || is_of_kind(p, false) ? release(p) : cudaErrorInvalidValue; }
cudaError_t release_pinned(void *p) { return !p || is_of_kind(p, true) ? release(p) : cudaErrorInvalidValue; }

cudaError_t release_later(void *p, cudaStream_t stream)
{
    return release_by(p, [=] { return ask(Call::free_later, p, number(stream)); });
}

bool allocation_of(const void *address, Range *found)
{
    pthread_mutex_lock(&lock);
    const Allocation *one = live;
    while (one && !((char *)address >= one->start && (char *)address < one->start + one->nbytes))
        one = one->next;
    if (one)
        *found = {one->start, one->nbytes, one->kind, one->context, one->number};
    pthread_mutex_unlock(&lock);
    return one;
}

Kind kind_of(const void *address, const void **start)
{
    Range found = {nullptr, 0, device_memory, nullptr, 0};
    allocation_of(address, &found);
    *start = found.start;
    return found.kind;
}

} // namespace gpuprof
