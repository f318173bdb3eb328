// Random numbers of the system: the same in every run. `rand` is the C library's, which always begins alike.
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

// The library is in one section: see channel.h.
#pragma clang section text = "gpuprof_text"

namespace {

unsigned long long n_drawn = 0;

// splitmix64 of a counter
unsigned long long draw()
{
    unsigned long long z = __atomic_add_fetch(&n_drawn, 1, __ATOMIC_RELAXED) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

void fill(void *to, size_t nbytes)
{
    for (size_t at = 0; at < nbytes; at += sizeof(long long)) {
        const unsigned long long drawn = draw();
        memcpy((char *)to + at, &drawn, nbytes - at < sizeof drawn ? nbytes - at : sizeof drawn);
    }
}

} // namespace

extern "C" {
ssize_t getrandom(void *to, size_t nbytes, unsigned)
{
    fill(to, nbytes);
    return (ssize_t)nbytes;
}
int getentropy(void *to, size_t nbytes)
{
    fill(to, nbytes);
    return 0;
}

unsigned arc4random() { return (unsigned)draw(); }
void arc4random_buf(void *to, size_t nbytes) { fill(to, nbytes); }
unsigned arc4random_uniform(unsigned end) { return end ? (unsigned)(draw() % end) : 0; }

// std::random_device, by the names of the C++ libraries: its library asks the processor, or the system by a file.
#ifdef GPUPROF_STATIC // libc++: all of the class, since its archive has it as one object
#define GPUPROF_DEVICE "_ZNSt3__113random_device"
void gpuprof_device_made(void *, const void *) __asm__(GPUPROF_DEVICE "C1ERKNS_12basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEE");
void gpuprof_device_made(void *, const void *) {}
void gpuprof_device_base(void *, const void *) __asm__(GPUPROF_DEVICE "C2ERKNS_12basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEE");
void gpuprof_device_base(void *, const void *) {}
void gpuprof_device_gone(void *) __asm__(GPUPROF_DEVICE "D1Ev");
void gpuprof_device_gone(void *) {}
void gpuprof_device_base_gone(void *) __asm__(GPUPROF_DEVICE "D2Ev");
void gpuprof_device_base_gone(void *) {}
double gpuprof_device_entropy(const void *) __asm__("_ZNKSt3__113random_device7entropyEv");
double gpuprof_device_entropy(const void *) { return 0; }
unsigned gpuprof_device_draw(void *) __asm__(GPUPROF_DEVICE "clEv");
#else // libstdc++
unsigned gpuprof_device_draw(void *) __asm__("_ZNSt13random_device9_M_getvalEv");
#endif
unsigned gpuprof_device_draw(void *) { return (unsigned)draw(); }
}
