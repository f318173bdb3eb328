// NVTX from C++: ranges that end with a scope.
#pragma once
#include "gpuprof/nvtx.h"

namespace nvtx3 {
inline namespace v1 {
class scoped_range {
public:
    explicit scoped_range(const char *name) { nvtxRangePushA(name); }
    template <typename String, typename = decltype(((const String *)nullptr)->c_str())> explicit scoped_range(const String &name) : scoped_range(name.c_str()) {}
    ~scoped_range() { nvtxRangePop(); }
    scoped_range(const scoped_range &) = delete;
    scoped_range &operator=(const scoped_range &) = delete;
};
template <typename Domain> using scoped_range_in = scoped_range;

// It may end in another scope or thread.
class unique_range {
public:
    explicit unique_range(const char *name) : range(nvtxRangeStartA(name)) {}
    unique_range(unique_range &&other) : range(other.range) { other.range = 0; }
    ~unique_range()
    {
        if (range)
            nvtxRangeEnd(range);
    }
    unique_range(const unique_range &) = delete;

private:
    nvtxRangeId_t range;
};
template <typename Domain> using unique_range_in = unique_range;
inline void mark(const char *name) { nvtxMarkA(name); }
} // namespace v1
} // namespace nvtx3

#define NVTX3_FUNC_RANGE() ::nvtx3::scoped_range const nvtx3_range(__func__)
#define NVTX3_FUNC_RANGE_IN(DOMAIN) NVTX3_FUNC_RANGE()
