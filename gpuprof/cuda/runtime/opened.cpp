// Logs the files that a program opens, for base/dependencies/opened_files.py, in place of functions of the C library. They do what
// those do; where $GPUPROF_OPENED_FILES names a log, each also writes a line of it.
//
// A static program has musl, whose objects define one function each, so that ours take their places; what musl's do is a
// system call, and fopen is an open and an fdopen there, too. Elsewhere the C library's own are called.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef GPUPROF_STATIC
#include <dlfcn.h>
#endif

namespace {

constexpr char is_read = 'r', is_written = 'w', is_listed = 'l';
constexpr int unknown = -2, none = -1;
int the_log = unknown; // races open it twice at worst

int opened_log()
{
    if (the_log == unknown) {
        const char *name = getenv("GPUPROF_OPENED_FILES");
        the_log = name ? syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : none;
    }
    return the_log;
}

// The folder that a relative path begins at.
size_t folder_of(int directory, char *out, size_t room)
{
    if (directory == AT_FDCWD)
        return getcwd(out, room) ? strlen(out) : 0;
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    const ssize_t n = readlink(link, out, room);
    return n > 0 ? n : 0;
}

// A line is one write, which no other process's divides; it ends with a zero byte, as a name may hold any other.
void log_opened(int directory, const char *path, char how)
{
    const int file = opened_log();
    if (file < 0 || !path)
        return;
    const int before = errno;
    char line[2 * 4096 + 3] = {how};
    size_t n = 1;
    if (*path != '/') {
        n += folder_of(directory, line + n, 4096);
        line[n++] = '/';
    }
    const size_t length = strlen(path);
    if (length < sizeof line - n) {
        memcpy(line + n, path, length + 1);
        if (write(file, line, n + length + 1) < 0)
            the_log = none; // a full disk: the reader misses the rest, and the program goes on
    }
    errno = before;
}

char how_of(int flags) { return flags & O_DIRECTORY ? is_listed : (flags & O_ACCMODE) != O_WRONLY && !(flags & O_TRUNC) ? is_read : is_written; }
char how_of(const char *mode) { return *mode == 'r' || (*mode == 'a' && strchr(mode, '+')) ? is_read : is_written; }

int opened_at(int directory, const char *path, int flags, unsigned mode)
{
    log_opened(directory, path, how_of(flags));
    return syscall(SYS_openat, directory, path, flags, mode);
}

#ifdef GPUPROF_STATIC
// As musl's __fmodeflags has it.
int flags_of(const char *mode)
{
    int flags = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    flags |= strchr(mode, 'x') ? O_EXCL : 0;
    flags |= strchr(mode, 'e') ? O_CLOEXEC : 0;
    flags |= *mode != 'r' ? O_CREAT : 0;
    flags |= *mode == 'w' ? O_TRUNC : 0;
    return flags | (*mode == 'a' ? O_APPEND : 0);
}
#else
template <typename Function> Function *theirs(Function *, const char *name) { return (Function *)dlsym(RTLD_NEXT, name); }
#endif

} // namespace

// The mode of a new file follows the flags.
#define GPUPROF_MODE(FLAGS, MODE)                                                                                                                    \
    unsigned MODE = 0;                                                                                                                               \
    if ((FLAGS) & (O_CREAT | __O_TMPFILE)) {                                                                                                         \
        va_list rest;                                                                                                                                \
        va_start(rest, FLAGS);                                                                                                                       \
        MODE = va_arg(rest, unsigned);                                                                                                               \
        va_end(rest);                                                                                                                                \
    }
#ifndef __O_TMPFILE
#define __O_TMPFILE O_TMPFILE
#endif

#undef open
#undef open64
#undef openat
#undef openat64
#undef fopen
#undef fopen64

extern "C" {

int open(const char *path, int flags, ...)
{
    GPUPROF_MODE(flags, mode)
    return opened_at(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
    GPUPROF_MODE(flags, mode)
    return opened_at(directory, path, flags, mode);
}

#ifdef GPUPROF_STATIC
FILE *fopen(const char *path, const char *mode)
{
    if (!strchr("rwa", *mode) || !*mode) {
        errno = EINVAL;
        return nullptr;
    }
    const int file = open(path, flags_of(mode), 0666);
    if (file < 0)
        return nullptr;
    FILE *made = fdopen(file, mode);
    if (!made)
        close(file);
    return made;
}
#else
int open64(const char *path, int flags, ...)
{
    GPUPROF_MODE(flags, mode)
    return opened_at(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat64(int directory, const char *path, int flags, ...)
{
    GPUPROF_MODE(flags, mode)
    return opened_at(directory, path, flags | O_LARGEFILE, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    static auto *real = theirs(fopen, "fopen");
    log_opened(AT_FDCWD, path, how_of(mode));
    return real(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    static auto *real = theirs(fopen64, "fopen64");
    log_opened(AT_FDCWD, path, how_of(mode));
    return real(path, mode);
}

DIR *opendir(const char *path)
{
    static auto *real = theirs(opendir, "opendir");
    log_opened(AT_FDCWD, path, is_listed);
    return real(path);
}
#endif

} // extern "C"
