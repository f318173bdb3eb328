// nvcuda::experimental::awbarrier: a barrier in shared memory as a class.
#pragma once

#ifdef __CUDA__ // a .cpp file gets nothing of it, as with nvcc

#include "cuda_awbarrier_primitives.h"

namespace nvcuda {
namespace experimental {

class awbarrier {
public:
    class arrival_token {
    public:
        arrival_token() = default;
        GPUPROF_DEVICE_MEMBER uint32_t pending_count() const { return __mbarrier_token_pending_count(token); }

    private:
        GPUPROF_DEVICE_MEMBER arrival_token(__mbarrier_token_t token) : token(token) {}
        __mbarrier_token_t token;
        friend awbarrier;
    };
    awbarrier() = default;
    awbarrier(const awbarrier &) = delete;
    awbarrier &operator=(const awbarrier &) = delete;

    GPUPROF_DEVICE_MEMBER arrival_token arrive() { return __mbarrier_arrive(&barrier); }
    GPUPROF_DEVICE_MEMBER arrival_token arrive_and_drop() { return __mbarrier_arrive_and_drop(&barrier); }
    GPUPROF_DEVICE_MEMBER void arrive_and_wait() { wait(arrive()); }
    GPUPROF_DEVICE_MEMBER void wait(arrival_token token)
    {
        while (!__mbarrier_test_wait(&barrier, token.token))
            ;
    }
    GPUPROF_DEVICE_MEMBER bool timed_wait(arrival_token token, uint32_t cycles)
    {
        return gpuprof_within(cycles, [&] { return __mbarrier_test_wait(&barrier, token.token); });
    }
    GPUPROF_DEVICE_MEMBER bool timed_wait_parity(bool phase, uint32_t cycles)
    {
        return gpuprof_within(cycles, [&] { return __mbarrier_test_wait_parity(&barrier, phase); });
    }
    GPUPROF_DEVICE_MEMBER bool try_wait(arrival_token token, uint32_t nanoseconds)
    {
        return __mbarrier_try_wait(&barrier, token.token, nanoseconds);
    }
    GPUPROF_DEVICE_MEMBER bool try_wait_parity(bool phase, uint32_t nanoseconds)
    {
        return __mbarrier_try_wait_parity(&barrier, phase, nanoseconds);
    }
    static constexpr GPUPROF_MEMBER uint32_t max() { return (1 << 14) - 1; }

private:
    template <typename IS_OVER> static GPUPROF_DEVICE_MEMBER bool gpuprof_within(uint32_t cycles, IS_OVER is_over)
    {
        const long long start = clock64();
        do
            if (is_over())
                return true;
        while (clock64() - start < cycles);
        return false;
    }
    __mbarrier_t barrier;
    friend GPUPROF_DEVICE_MEMBER void init(awbarrier *barrier, uint32_t expected) { __mbarrier_init(&barrier->barrier, expected); }
    friend GPUPROF_DEVICE_MEMBER void inval(awbarrier *barrier) { __mbarrier_inval(&barrier->barrier); }
    friend class pipeline;
};
GPUPROF_DEVICE_MEMBER void init(awbarrier *barrier, uint32_t expected);
GPUPROF_DEVICE_MEMBER void inval(awbarrier *barrier);

} // namespace experimental
} // namespace nvcuda
#endif
