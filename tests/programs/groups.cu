// Cooperative groups: a reduction that works for any group, tiles, and the lanes that are here together.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ int reduce(cg::thread_group group, int *scratch, int value)
{
    int rank = group.thread_rank();
    for (int i = group.size() / 2; i > 0; i /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < i)
            value += scratch[rank + i];
        group.sync();
    }
    return value;
}

__global__ void sums(const int *in, int *block_sum, int *tile_sums, int *tile_sums_by_shuffle)
{
    __shared__ int scratch[128];
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int value = in[block.thread_rank()];
    int all = reduce(block, scratch, value);
    if (block.thread_rank() == 0)
        *block_sum = all;
    block.sync();
    int part = reduce(tile, scratch + tile.meta_group_rank() * 16, value);
    for (int i = tile.size() / 2; i > 0; i /= 2)
        value += tile.shfl_down(value, i);
    if (tile.thread_rank() == 0) {
        tile_sums[tile.meta_group_rank()] = part;
        tile_sums_by_shuffle[tile.meta_group_rank()] = value;
    }
}

__global__ void compact(const int *in, int *out, int *n_found)
{
    int value = in[threadIdx.x];
    if (value > 0) {
        auto here = cg::coalesced_threads();
        int first;
        if (here.thread_rank() == 0)
            first = atomicAdd(n_found, here.size());
        out[here.shfl(first, 0) + here.thread_rank()] = value;
    }
}
