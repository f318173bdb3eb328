// Addresses and sizes of symbols; a part of a symbol; memset on one.
#include "check.h"
__device__ int counters[8];
__constant__ short table[4] = {1, 2, 3, 4};
__global__ void add() { atomicAdd(&counters[threadIdx.x], table[threadIdx.x % 4]); }
int main()
{
    int *address, got[8], middle[2] = {100, 200};
    short changed[2] = {30, 40};
    size_t nbytes;
    CHECK(cudaGetSymbolAddress((void **)&address, counters));
    CHECK(cudaGetSymbolSize(&nbytes, counters));
    CHECK(cudaMemset(address, 0, nbytes));
    CHECK(cudaMemcpyToSymbol(counters, middle, sizeof middle, 3 * sizeof(int)));
    CHECK(cudaMemcpyToSymbol(table, changed, sizeof changed, 2 * sizeof(short), cudaMemcpyHostToDevice));
    add<<<1, 8>>>();
    CHECK(cudaMemcpyFromSymbol(got, counters, sizeof got));
    const int expected[8] = {1, 2, 30, 140, 201, 2, 30, 40};
    bool is_right = nbytes == sizeof got && cudaMemcpyFromSymbol(got, counters, 64) == cudaErrorInvalidValue;
    for (int i = 0; i < 8; ++i)
        is_right &= got[i] == expected[i];
    return verdict(is_right);
}
