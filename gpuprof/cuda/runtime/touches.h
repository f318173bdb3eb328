// What the host's code touches of managed memory.
#pragma once

#include <stddef.h>

namespace gpuprof {

// A managed allocation begins, which nothing has touched yet, and ends. Neither is called with a lock of the library's.
void watch_touches(char *start, size_t nbytes);
void end_watch(const char *start);

// Sends what has been touched since the last report. It costs nothing where no managed memory is.
void report_touches();

} // namespace gpuprof
