// Tiles of a block: sums, ranks and votes of cooperative groups.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void work(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    const int sum = cg::reduce(tile, (int)block.thread_rank(), cg::plus<int>());
    const int even = __popc(tile.ballot(block.thread_rank() % 2 == 0));
    const int fifth = tile.shfl((int)tile.thread_rank(), 5);
    if (tile.thread_rank() == 0)
        out[tile.meta_group_rank()] = sum * 100 + even * 10 + fifth;
}
int main()
{
    int *device, got[8];
    CHECK(cudaMalloc(&device, sizeof got));
    work<<<1, 64>>>(device);
    CHECK(cudaMemcpy(got, device, sizeof got, cudaMemcpyDeviceToHost));
    bool is_right = true;
    for (int i = 0; i < 8; ++i)
        is_right &= got[i] == (8 * (8 * i) + 28) * 100 + 45;
    return verdict(is_right);
}
