// Device memory: a mapping that gpuprof shares, at its device address. The host may touch what it is open for.
#pragma once

#include "channel.h"

namespace gpuprof {

// What an allocation is: the host reads and writes the last two.
enum Kind { device_memory, managed_memory, pinned_memory };

char *staging(); // staging_nbytes that gpuprof shares, too: long copies go through it

bool is_managed_variable(const void *address);
bool is_device(const void *address);
bool fits(const void *address, size_t nbytes); // from an address of the device, before the end of its memory
cudaError_t allocate(void **p, size_t nbytes, Kind kind, const char *name); // not where a capture is under way
cudaError_t allocate_in_order(void **p, size_t nbytes, const char *name);   // of a stream
cudaError_t release(void *p); // whatever it is
cudaError_t release_device(void *p);
cudaError_t release_pinned(void *p);
cudaError_t release_later(void *p, cudaStream_t stream); // once what was asked of the stream is done
Kind kind_of(const void *address, const void **start); // `start` null: no allocation

struct Range {
    char *start;
    size_t nbytes;
    Kind kind;
    const void *context; // that was current when it was allocated
    unsigned long long number;
};
bool allocation_of(const void *address, Range *found);

// Memory that is mapped at a reserved address: cudaFree does not free it.
void add_mapped(char *start, size_t nbytes);
void drop_mapped(const char *start);

} // namespace gpuprof
