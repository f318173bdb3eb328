// Integer intrinsics beside their meaning in plain C++.
#include "check.h"
struct Result {
    int ones, leading, first;
    unsigned reversed, bytes, shifted;
    int high, dot, absolute;
    unsigned long long wide;
};
__global__ void on_device(const unsigned *in, Result *out)
{
    const unsigned x = in[threadIdx.x], y = x * 2654435761u + 12345;
    out[threadIdx.x] = {__popc(x), __clz(x), __ffs(x), __brev(x), __byte_perm(x, y, 0x4017), __funnelshift_l(x, y, 9), __mulhi((int)x, (int)y),
                        __dp4a((int)x, (int)y, 7), abs((int)x), __umul64hi((unsigned long long)x << 20, (unsigned long long)y << 25)};
}
Result on_host(unsigned x)
{
    const unsigned y = x * 2654435761u + 12345;
    Result r = {};
    r.leading = 32;
    for (int bit = 0; bit < 32; ++bit)
        if (x >> bit & 1) {
            ++r.ones;
            r.leading = 31 - bit;
            r.first = r.first ? r.first : bit + 1;
            r.reversed |= 1u << (31 - bit);
        }
    const unsigned long long both = (unsigned long long)y << 32 | x;
    const int order[4] = {7, 1, 0, 4};
    r.dot = 7;
    for (int i = 0; i < 4; ++i) {
        r.bytes |= (unsigned)(both >> 8 * order[i] & 255) << 8 * i;
        r.dot += (signed char)(x >> 8 * i) * (signed char)(y >> 8 * i);
    }
    r.shifted = (unsigned)(both << 9 >> 32);
    r.high = (int)((long long)(int)x * (int)y >> 32);
    r.absolute = (int)x < 0 ? -(int)x : (int)x;
    r.wide = (unsigned long long)(((unsigned __int128)((unsigned long long)x << 20) * ((unsigned long long)y << 25)) >> 64);
    return r;
}
int main()
{
    unsigned values[64], *in;
    Result got[64], *out;
    for (unsigned i = 0; i < 64; ++i)
        values[i] = i < 3 ? i : i * i * 40503u << i % 9;
    CHECK(cudaMalloc(&in, sizeof values));
    CHECK(cudaMalloc(&out, sizeof got));
    CHECK(cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice));
    on_device<<<1, 64>>>(in, out);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int i = 0; i < 64; ++i) {
        const Result &a = got[i], b = on_host(values[i]);
        is_right &= a.ones == b.ones && a.leading == b.leading && a.first == b.first && a.reversed == b.reversed && a.bytes == b.bytes &&
                    a.shifted == b.shifted && a.high == b.high && a.dot == b.dot && a.absolute == b.absolute && a.wide == b.wide;
    }
    return verdict(is_right);
}
