// Messages to gpuprof, and what came of them. See calls.py for their form.
#pragma once

#define GPUPROF_RUNTIME
#include "calls.h"
#include "gpuprof/cuda.h"

// All of the library lies in one section: by that the place is found where the program has called it.
#pragma clang section text = "gpuprof_text"

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
template <typename... Words> [[gnu::always_inline]] inline Reply ask_with(Payload payload, Room *room, Call call, Words... words)
{
    const unsigned long long given[sizeof...(Words) + 1] = {(unsigned long long)words...};
    return send(call, given, sizeof...(Words), payload, room);
}
template <typename... Words> [[gnu::always_inline]] inline Reply ask(Call call, Words... words)
{
    return ask_with(Payload{}, nullptr, call, words...);
}

Payload text(const char *s);

// Nobody else calls while it lives.
class Turn {
public:
    Turn();
    ~Turn();
};
// Several messages that are one call of the program's; no other thread calls meanwhile.
class OneCall {
public:
    OneCall();
    ~OneCall();
};
// What is sent while it lives is no call of the program's.
class Unlisted {
public:
    Unlisted();
    ~Unlisted();
};
// Inside one, others may call while this lives: the program's own code runs.
class TheirTurn {
public:
    TheirTurn();
    ~TheirTurn();

private:
    int n_held;
};

// The position of `kernel<<<...>>>`, for the call that follows in this thread: its stub is what calls the library.
void called_from(const void *place);

// While it lives, a call of the driver is made: its errors are none that the runtime keeps.
class DriverCall {
public:
    DriverCall();
    ~DriverCall();
};
void note_runtime_call(); // the runtime initializes the driver, and makes the primary context current

// A call in this thread launches a kernel that is not there.
void not_launched(const char *symbol);

// The context is new: no fault is known any more.
cudaError_t reset_context();
bool is_context_lost();

// What a call ends with: kept for cudaGetLastError, and given back. Of a call that needs a context: a lost one's error.
cudaError_t result(cudaError_t error);
cudaError_t noted(cudaError_t error); // of one that needs none
cudaError_t report_unsupported(cudaError_t error); // for the driver: its errors are no last error

// The program asks for the last error.
void see_error();

// Says on stderr, with the program's line, that `what` is not there; gives back cudaErrorNotSupported.
cudaError_t not_supported(const char *what);

// What a function of the API gives that does nothing here, whose arguments are right or not.
inline cudaError_t result_if(bool is_right) { return result(is_right ? cudaSuccess : cudaErrorInvalidValue); }

inline unsigned long long number(cudaStream_t stream) { return (unsigned long long)stream; }

} // namespace gpuprof
