// A hash table of open addressing by compare-and-swap; 64-bit atomics.
#include "check.h"
#include <set>
constexpr unsigned capacity = 1024, none = ~0u;
__device__ unsigned long long key_sum;
__global__ void insert(unsigned *table, int n)
{
    const unsigned key = (blockIdx.x * blockDim.x + threadIdx.x) * 7 % 300;
    if (blockIdx.x * blockDim.x + threadIdx.x >= n)
        return;
    for (unsigned at = key * 2654435761u % capacity;; at = (at + 1) % capacity) {
        const unsigned old = atomicCAS(&table[at], none, key);
        if (old == none)
            atomicAdd(&key_sum, (unsigned long long)key << 20);
        if (old == none || old == key)
            return;
    }
}
int main()
{
    unsigned *table, got[capacity];
    unsigned long long sum;
    CHECK(cudaMalloc(&table, sizeof got));
    CHECK(cudaMemset(table, 0xff, sizeof got));
    insert<<<4, 128>>>(table, 500);
    CHECK(cudaMemcpy(got, table, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&sum, key_sum, sizeof sum));
    std::multiset<unsigned> keys;
    for (unsigned each : got)
        if (each != none)
            keys.insert(each);
    bool is_right = keys.size() == 300 && sum == (299ull * 300 / 2) << 20;
    for (unsigned key = 0; key < 300; ++key)
        is_right &= keys.count(key) == 1;
    return verdict(is_right);
}
