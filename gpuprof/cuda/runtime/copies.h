// Copies between host and device, of bytes in a row and of boxes.
#pragma once

#include "captures.h"
#include "channel.h"

namespace gpuprof {

cudaError_t copy(void *to, const void *from, size_t nbytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t fill(void *p, int value, size_t nbytes, cudaStream_t stream);

// Where a box begins, and the bytes from a row to the next and from a slice to the next.
struct Side {
    char *base;
    size_t row, slice;
};
struct Box {
    size_t nbytes, rows, slices; // bytes of a row
};

// One call of the API, with any number of copies: rows with gaps between them are copied one by one.
cudaError_t copy_box(Side to, Side from, Box box, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t fill_box(Side to, int value, Box box, cudaStream_t stream);

// The host waits for copies to the device, and for those between it and page-locked memory, that are asked while it
// lives. Others wait, or do not wait, whoever asks (CUDA Runtime API, API synchronization behavior).
class Synchronous {
public:
    Synchronous();
    ~Synchronous();
};
template <typename Do> cudaError_t and_wait(Do what)
{
    const cudaError_t status = check_host_wait();
    Synchronous all;
    return status ? status : what();
}

} // namespace gpuprof
