// Messages to gpuprof, and what came of them. See calls.py for their form.
#pragma once

#define GPUPROF_RUNTIME
#include "calls.h"
#include "gpuprof/cuda.h"

namespace gpuprof {

constexpr unsigned most_words = 20;

struct Payload {
    const void *bytes;
    size_t nbytes;
};

// Where the payload of a reply goes. `nbytes`: what there is room for; then what came.
struct Room {
    void *bytes;
    size_t nbytes;
};

struct Reply {
    cudaError_t status;
    unsigned long long words[most_words];
};

Reply send(Call call, const unsigned long long *words, unsigned n_words, Payload payload, Room *room);

// `room` is null where no payload comes back.
template <typename... Words> Reply ask_with(Payload payload, Room *room, Call call, Words... words)
{
    const unsigned long long given[sizeof...(Words) + 1] = {(unsigned long long)words...};
    return send(call, given, sizeof...(Words), payload, room);
}
template <typename... Words> Reply ask(Call call, Words... words) { return ask_with(Payload{}, nullptr, call, words...); }

Payload text(const char *s);

// Keeps the error for cudaGetLastError, and gives it back.
cudaError_t result(cudaError_t error);

// What a function of the API gives that does nothing here, whose arguments are right or not.
inline cudaError_t result_if(bool is_right) { return result(is_right ? cudaSuccess : cudaErrorInvalidValue); }

inline unsigned long long number(cudaStream_t stream) { return (unsigned long long)stream; }

} // namespace gpuprof
