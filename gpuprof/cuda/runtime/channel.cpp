// The socket to gpuprof. One call at a time: host threads take turns.
#include "channel.h"
#include "clock.h"
#include "touches.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace gpuprof {

namespace {

struct Head {
    int call;
    unsigned n_words;
    unsigned long long nbytes, caller, function, host_nanoseconds;
    unsigned thread, is_part;
};
struct ReplyHead {
    int status;
    unsigned n_words;
    unsigned long long nbytes, host_nanoseconds; // that the call takes of the host's time
};

pthread_mutex_t turn; // a thread may take it again
pid_t owner = 0; // the process that the socket was given to

thread_local cudaError_t last = cudaSuccess;
cudaError_t sticky = cudaSuccess;  // after a fault every call gives it: the context is lost
bool is_each_waited_for = false;   // CUDA_LAUNCH_BLOCKING
cudaError_t pending = cudaSuccess; // a fault that no call has met yet: CUDA's launches do not wait for their end

[[noreturn]] void give_up(const char *why)
{
    fflush(nullptr); // what the program has printed so far is shown
    fprintf(stderr, "gpuprof: %s\n", why);
    _exit(125);
}

int socket_fd = -1;

void make_turn()
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&turn, &attributes);
}

// A child has no context, and must not keep gpuprof waiting for the end of calls.
void leave_to_parent()
{
    close(socket_fd);
    make_turn(); // another thread may have held it
}

__attribute__((constructor(101))) void take_socket()
{
    make_turn();
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    is_each_waited_for = blocking && *blocking == '1';
    const char *given = getenv("GPUPROF_CHANNEL");
    if (!given)
        return;
    socket_fd = atoi(given);
    owner = getpid();
    fcntl(socket_fd, F_SETFD, FD_CLOEXEC);
    pthread_atfork(nullptr, nullptr, leave_to_parent);
}

const char *end_of_channel() { return errno == EBADF || errno == ENOTSOCK ? "the program has closed gpuprof's socket" : "the profiler has gone"; }

void write_all(int fd, iovec *parts, int n_parts)
{
    while (n_parts) {
        msghdr message = {};
        message.msg_iov = parts;
        message.msg_iovlen = n_parts;
        const ssize_t written = sendmsg(fd, &message, MSG_NOSIGNAL);
        if (written < 0 && errno != EINTR)
            give_up(errno == EFAULT ? "a copy reads host memory that is not there" : end_of_channel());
        size_t left = written < 0 ? 0 : (size_t)written;
        while (n_parts && left >= parts->iov_len) {
            left -= parts->iov_len;
            ++parts;
            --n_parts;
        }
        if (n_parts) {
            parts->iov_base = (char *)parts->iov_base + left;
            parts->iov_len -= left;
        }
    }
}

void read_all(int fd, void *to, size_t nbytes)
{
    while (nbytes) {
        const ssize_t came = recv(fd, to, nbytes, MSG_WAITALL);
        if (came == 0 || (came < 0 && errno != EINTR))
            give_up(came == 0 ? "the profiler has gone" : errno == EFAULT ? "a copy writes host memory that is not there" : end_of_channel());
        if (came > 0) {
            to = (char *)to + came;
            nbytes -= came;
        }
    }
}

thread_local int n_open = 0; // OneCall
thread_local const void *launch_place = nullptr;
thread_local unsigned thread_number = 0; // from 1
unsigned n_threads = 0;

extern "C" const char __start_gpuprof_text[], __stop_gpuprof_text[];

bool is_library(const void *place) { return (const char *)place >= __start_gpuprof_text && (const char *)place < __stop_gpuprof_text; }

struct Place {
    const void *caller, *function; // in the program's code, in the library's function that it calls
};

// The frames of the library are chained: it is compiled so.
Place place_of_call(Call call)
{
    void **frame = (void **)__builtin_frame_address(0);
    Place place = {frame[1], nullptr};
    while (is_library(place.caller)) {
        frame = (void **)frame[0];
        place = {frame[1], place.caller};
    }
    if (launch_place && (call == Call::launch || call == Call::not_launched)) {
        place.caller = launch_place;
        launch_place = nullptr;
    }
    return place;
}

unsigned number_of_thread()
{
    if (!thread_number)
        thread_number = ++n_threads; // in turn
    return thread_number - 1;
}

bool is_wait(Call call)
{
    return call == Call::synchronize || call == Call::copy_out || call == Call::staged_out || call == Call::free || call == Call::event_time ||
           call == Call::host_function || call == Call::read_word;
}

Reply exchange(int fd, Call call, const unsigned long long *words, unsigned n_words, Payload payload, Room *room)
{
    if (is_wait(call) || call == Call::launch)
        fflush(stdout); // what kernels print comes after it
    if (call == Call::launch)
        note_launch();
    Place place = {};
    if (!n_open || call == Call::begin_call || call == Call::not_supported)
        place = place_of_call(call);
    const unsigned long long function = place.function ? (unsigned long long)((const char *)place.function - __start_gpuprof_text) : 0;
    Head head = {(int)call, n_words, payload.nbytes, (unsigned long long)place.caller, function, host_clock(), number_of_thread(), n_open > 0};
    ReplyHead came;
    iovec parts[] = {{&head, sizeof head}, {(void *)words, n_words * sizeof *words}, {(void *)payload.bytes, payload.nbytes}};
    write_all(fd, parts, 3);
    read_all(fd, &came, sizeof came);
    if (came.n_words > most_words || came.nbytes > (room ? room->nbytes : 0))
        give_up("a reply is longer than requested");
    Reply reply = {(cudaError_t)came.status, {}};
    read_all(fd, reply.words, came.n_words * sizeof *reply.words);
    if (room) {
        read_all(fd, room->bytes, came.nbytes);
        room->nbytes = came.nbytes;
    }
    advance_clock(came.host_nanoseconds);
    return reply;
}

void take_turn() { pthread_mutex_lock(&turn); }
void give_turn() { pthread_mutex_unlock(&turn); }

bool has_unseen = false; // a launch's error that the program has not asked for

// "To continue using CUDA, the process must be terminated", as driver_types.h says of each of these.
bool is_sticky(cudaError_t error)
{
    switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure: return true;
    default: return false;
    }
}

// What only puts work in a stream does not meet the faults of what is there before it.
bool is_asynchronous(Call call)
{
    if (is_each_waited_for)
        return false;
    return call == Call::launch || call == Call::fill || call == Call::fill_words || call == Call::copy_within || call == Call::record ||
           call == Call::wait || call == Call::free_later || call == Call::prefetch || call == Call::host_touches;
}

// Touches of the host are reported before it: it may make the GPU use managed memory, or gives the program a time. A
// free reports them by itself (arena.cpp), and so does a function of the host within a graph (graphs.cpp).
bool follows_touches(Call call)
{
    switch (call) {
    case Call::copy_in:
    case Call::copy_out:
    case Call::staged_in:
    case Call::staged_out:
    case Call::copy_within:
    case Call::fill:
    case Call::fill_words:
    case Call::prefetch:
    case Call::advise:
    case Call::launch:
    case Call::record:
    case Call::wait:
    case Call::synchronize:
    case Call::event_time:
    case Call::host_function: return true;
    default: return false;
    }
}

// What needs no context: the library asks it for itself.
bool is_silent(Call call)
{
    switch (call) {
    case Call::module:
    case Call::function:
    case Call::variable:
    case Call::properties:
    case Call::begin_call:
    case Call::end_call:
    case Call::begin_rows:
    case Call::end_rows:
    case Call::begin_graph:
    case Call::end_graph:
    case Call::begin_task:
    case Call::end_task:
    case Call::not_launched:
    case Call::not_supported:
    case Call::error_seen:
    case Call::lack: return true;
    default: return false;
    }
}

// A message that a lost context cannot serve. The first that waits for the device meets its fault.
bool is_lost(Call call)
{
    if (is_silent(call))
        return false;
    if (pending && !is_asynchronous(call))
        sticky = pending;
    return pending;
}

void note_fault(Call call, Reply *reply)
{
    if (!is_sticky(reply->status))
        return;
    pending = reply->status;
    if (is_asynchronous(call))
        reply->status = cudaSuccess;
    else
        sticky = pending;
}

} // namespace

Reply send(Call call, const unsigned long long *words, unsigned n_words, Payload payload, Room *room)
{
    take_turn();
    if (!owner)
        give_up("this program was built by gpuprof; run it with `gpuprof run` or `gpuprof collect`");
    if (!n_open && follows_touches(call))
        report_touches();
    Reply reply = {};
    if (owner != getpid())
        reply.status = cudaErrorInitializationError; // as CUDA after a fork: the child has no context
    else if (is_lost(call))
        reply.status = sticky;
    else {
        reply = exchange(socket_fd, call, words, n_words, payload, room);
        note_fault(call, &reply);
    }
    give_turn();
    return reply;
}

OneCall::OneCall()
{
    take_turn();
    if (!n_open)
        report_touches();
    if (++n_open == 1)
        send(Call::begin_call, nullptr, 0, {}, nullptr);
}
OneCall::~OneCall()
{
    if (n_open == 1)
        send(Call::end_call, nullptr, 0, {}, nullptr);
    --n_open;
    give_turn();
}
Turn::Turn() { take_turn(); }
Turn::~Turn() { give_turn(); }
Unlisted::Unlisted()
{
    take_turn();
    ++n_open;
}
Unlisted::~Unlisted()
{
    --n_open;
    give_turn();
}
TheirTurn::TheirTurn() : n_held(n_open)
{
    n_open = 0;
    for (int i = 0; i < n_held; ++i)
        give_turn();
}
TheirTurn::~TheirTurn()
{
    for (int i = 0; i < n_held; ++i)
        take_turn();
    n_open = n_held;
}

void called_from(const void *place) { launch_place = place; }

void not_launched(const char *symbol)
{
    const bool is_unchecked = launch_place; // what cudaLaunchKernel gives back is the program's to check
    has_unseen |= is_unchecked;
    ask_with(text(symbol), nullptr, Call::not_launched, is_unchecked);
}

Payload text(const char *s) { return {s, strlen(s)}; }

thread_local int n_driver_calls = 0;

DriverCall::DriverCall() { ++n_driver_calls; }
DriverCall::~DriverCall() { --n_driver_calls; }

cudaError_t not_supported(const char *what)
{
    const Reply reply = ask_with(text(what), nullptr, Call::lack);
    return reply.status ? reply.status : cudaErrorNotSupported;
}

bool is_context_lost() { return sticky; }

cudaError_t reset_context()
{
    Turn turn;
    sticky = pending = last = cudaSuccess;
    return ask(Call::reset).status;
}

cudaError_t result(cudaError_t error) { return noted(sticky ? sticky : error); }

cudaError_t noted(cudaError_t error)
{
    if (n_driver_calls)
        return error;
    note_runtime_call();
    if (error && error != cudaErrorNotReady) // which CUDA does not count as an error
        last = error;
    return report_unsupported(error);
}

cudaError_t report_unsupported(cudaError_t error)
{
    if (error == cudaErrorNotSupported)
        ask(Call::not_supported);
    return error;
}

void see_error()
{
    if (!has_unseen || !last)
        return;
    has_unseen = false;
    ask(Call::error_seen);
}

} // namespace gpuprof

extern "C" cudaError_t cudaGetLastError()
{
    gpuprof::see_error();
    const cudaError_t found = gpuprof::sticky ? gpuprof::sticky : gpuprof::last;
    gpuprof::last = cudaSuccess;
    return found;
}
extern "C" cudaError_t cudaPeekAtLastError()
{
    gpuprof::see_error();
    return gpuprof::sticky ? gpuprof::sticky : gpuprof::last;
}
