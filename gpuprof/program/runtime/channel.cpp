// The socket to gpuprof. One call at a time: host threads take turns.
#include "channel.h"
#include "clock.h"

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
    unsigned long long nbytes;
};
struct ReplyHead {
    int status;
    unsigned n_words;
    unsigned long long nbytes, host_nanoseconds; // that the call takes of the host's time
};

pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
pid_t owner = 0; // the process that the socket was given to

[[noreturn]] void give_up(const char *why)
{
    fflush(nullptr); // what the program has printed so far is shown
    fprintf(stderr, "gpuprof: %s\n", why);
    _exit(125);
}

int socket_fd = -1;

// A child has no context, and must not keep gpuprof waiting for the end of calls.
void leave_to_parent()
{
    close(socket_fd);
    turn = PTHREAD_MUTEX_INITIALIZER; // another thread may have held it
}

__attribute__((constructor)) void take_socket()
{
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

Reply exchange(int fd, Call call, const unsigned long long *words, unsigned n_words, Payload payload, Room *room)
{
    Head head = {(int)call, n_words, payload.nbytes};
    ReplyHead came;
    iovec parts[] = {{&head, sizeof head}, {(void *)words, n_words * sizeof *words}, {(void *)payload.bytes, payload.nbytes}};
    write_all(fd, parts, 3);
    read_all(fd, &came, sizeof came);
    if (came.n_words > most_words || came.nbytes > (room ? room->nbytes : 0))
        give_up("a reply is longer than what was asked for");
    Reply reply = {(cudaError_t)came.status, {}};
    read_all(fd, reply.words, came.n_words * sizeof *reply.words);
    if (room) {
        read_all(fd, room->bytes, came.nbytes);
        room->nbytes = came.nbytes;
    }
    advance_clock(came.host_nanoseconds);
    return reply;
}

thread_local cudaError_t last = cudaSuccess;
cudaError_t sticky = cudaSuccess; // after a fault every call gives it: the context is lost

bool is_sticky(cudaError_t error) { return error >= cudaErrorIllegalAddress && error <= cudaErrorLaunchFailure && error != cudaErrorLaunchOutOfResources &&
        error != cudaErrorPeerAccessAlreadyEnabled && error != cudaErrorPeerAccessNotEnabled && error != cudaErrorHostMemoryAlreadyRegistered &&
        error != cudaErrorHostMemoryNotRegistered; }

} // namespace

Reply send(Call call, const unsigned long long *words, unsigned n_words, Payload payload, Room *room)
{
    pthread_mutex_lock(&turn);
    if (!owner)
        give_up("this program was built by gpuprof; run it with `gpuprof run` or `gpuprof collect`");
    Reply reply = {sticky, {}};
    if (owner != getpid())
        reply.status = cudaErrorInitializationError; // as CUDA after a fork: the child has no context
    else if (!sticky)
        reply = exchange(socket_fd, call, words, n_words, payload, room);
    if (is_sticky(reply.status))
        sticky = reply.status;
    pthread_mutex_unlock(&turn);
    return reply;
}

Payload text(const char *s) { return {s, strlen(s)}; }

cudaError_t result(cudaError_t error)
{
    if (error)
        last = error;
    return error;
}

} // namespace gpuprof

extern "C" cudaError_t cudaGetLastError()
{
    const cudaError_t found = gpuprof::last;
    gpuprof::last = gpuprof::sticky;
    return found;
}
extern "C" cudaError_t cudaPeekAtLastError() { return gpuprof::last; }
