// __nv_atomic_*: each operation on types of each size, with orders and scopes, counted by threads of several blocks.
#include <cstdio>
#define ORDER __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE
struct Result {
    int sum, least, most, n_swaps;
    unsigned long long ones, sum64;
    float sum_float;
    double sum_double;
    short taken;
    int loaded, bits, odd, exchanged;
};
__global__ void count(Result *r)
{
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_atomic_fetch_add(&r->sum, me, ORDER);
    __nv_atomic_fetch_sub(&r->sum, 1, __NV_ATOMIC_SEQ_CST);
    __nv_atomic_fetch_min(&r->least, -me, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_fetch_max(&r->most, me, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_or(&r->ones, 1ull << (me & 63), __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_add(&r->sum64, 1ull << 40, ORDER);
    __nv_atomic_fetch_add(&r->sum_float, 0.5f, ORDER);
    __nv_atomic_fetch_add(&r->sum_double, 0.25, ORDER);
    __nv_atomic_fetch_and(&r->bits, ~(1 << (me & 7)), ORDER);
    __nv_atomic_fetch_xor(&r->odd, me, ORDER);
    short free = 0;
    if (__nv_atomic_compare_exchange_n(&r->taken, &free, (short)7, false, __NV_ATOMIC_ACQ_REL, ORDER))
        __nv_atomic_fetch_add(&r->n_swaps, 1, ORDER);
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    if (me == 0) {
        int five = 5, nine = 9, old;
        __nv_atomic_store(&r->loaded, &five, __NV_ATOMIC_RELEASE);
        __nv_atomic_exchange(&r->loaded, &nine, &old, __NV_ATOMIC_RELAXED);
        __nv_atomic_load(&r->loaded, &five, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK);
        r->exchanged = 10 * old + five;
        __nv_atomic_store_n(&r->loaded, __nv_atomic_exchange_n(&r->loaded, 3, ORDER) + 1, ORDER);
    }
}
int main()
{
    Result *r;
    cudaMallocManaged(&r, sizeof *r);
    memset(r, 0, sizeof *r);
    r->bits = 0xfff;
    count<<<4, 64>>>(r);
    cudaDeviceSynchronize();
    printf("%d %d %d %d %llx %llx %g %g %d %d %x %d %d\n", r->sum, r->least, r->most, r->n_swaps, r->ones, r->sum64, r->sum_float,
           r->sum_double, r->taken, r->loaded, r->bits, r->odd, r->exchanged);
}
