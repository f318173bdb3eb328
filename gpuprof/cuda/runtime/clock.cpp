// The clocks of the C library, on the host's made time. Two runs read the same, and a loop that waits for a clock ends.
#include "clock.h"
#include "channel.h"

#include <errno.h>
#include <sys/time.h>
#include <time.h>

namespace {

constexpr unsigned long long second = 1000000000;
constexpr unsigned long long start = 1767225600ull * second; // 2026-01-01: the day on which every program runs
constexpr unsigned long long reading = 25;                   // of a clock: a call of clock_gettime through the vDSO

unsigned long long passed = 0;

bool has_launched = false, is_reported = false;

// The first reading after a launch: it may be of how long that took.
void tell()
{
    if (!__atomic_load_n(&has_launched, __ATOMIC_RELAXED) || __atomic_exchange_n(&is_reported, true, __ATOMIC_RELAXED))
        return;
    gpuprof::Unlisted unlisted;
    gpuprof::ask(Call::read_clock);
}

unsigned long long now(bool is_since_start)
{
    const unsigned long long at = __atomic_add_fetch(&passed, reading, __ATOMIC_RELAXED);
    return is_since_start ? at : start + at;
}

timespec as_timespec(unsigned long long nanoseconds) { return {(time_t)(nanoseconds / second), (long)(nanoseconds % second)}; }

int sleep_for(const timespec *wanted, timespec *left)
{
    if (wanted->tv_nsec < 0 || wanted->tv_nsec >= (long)second || wanted->tv_sec < 0)
        return EINVAL;
    gpuprof::advance_clock(wanted->tv_sec * second + wanted->tv_nsec);
    if (left)
        *left = {};
    return 0;
}

} // namespace

void gpuprof::advance_clock(unsigned long long nanoseconds) { __atomic_add_fetch(&passed, nanoseconds, __ATOMIC_RELAXED); }

void gpuprof::note_launch() { __atomic_store_n(&has_launched, true, __ATOMIC_RELAXED); }

unsigned long long gpuprof::host_clock() { return __atomic_load_n(&passed, __ATOMIC_RELAXED); }

extern "C" {
int clock_gettime(clockid_t clock, timespec *found)
{
    tell();
    *found = as_timespec(now(clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE));
    return 0;
}
int gettimeofday(timeval *found, void *)
{
    tell();
    const unsigned long long at = now(false);
    if (found)
        *found = {(time_t)(at / second), (suseconds_t)(at % second / 1000)};
    return 0;
}
time_t time(time_t *found)
{
    const time_t at = (time_t)(now(false) / second);
    if (found)
        *found = at;
    return at;
}
clock_t clock()
{
    tell();
    return (clock_t)(now(true) / (second / CLOCKS_PER_SEC));
}
int timespec_get(timespec *found, int base)
{
    clock_gettime(CLOCK_REALTIME, found);
    return base;
}
int nanosleep(const timespec *wanted, timespec *left)
{
    const int error = sleep_for(wanted, left);
    errno = error ? error : errno;
    return error ? -1 : 0;
}
int usleep(unsigned microseconds)
{
    gpuprof::advance_clock(microseconds * 1000ull);
    return 0;
}
unsigned sleep(unsigned seconds)
{
    gpuprof::advance_clock(seconds * second);
    return 0;
}
}
