// Cooperative groups: the block, tiles and other lanes of a warp, a cluster (sm_90), the grid.
// Collectives stand in cooperative_groups/reduce.h, scan.h and memcpy_async.h.
#pragma once

#ifdef __CUDA__ // a .cpp file gets nothing of it, as with nvcc
#include "gpuprof/cuda.h"

// Member functions that threads must not enter or leave one by one.
#define GPUPROF_CONVERGENT inline __attribute__((device, always_inline, nodebug, convergent))
#define GPUPROF_SPECIAL(REGISTER)                                                                                                          \
    ({                                                                                                                                     \
        unsigned int value;                                                                                                                \
        asm("mov.u32 %0, %" REGISTER ";" : "=r"(value));                                                                                   \
        value;                                                                                                                             \
    })

namespace cooperative_groups {
namespace __v1 {

// What all groups have in common: some threads of a warp (`mask`), or the block (`mask` is 0).
class thread_group {
public:
    GPUPROF_DEVICE_MEMBER unsigned long long size() const { return mask ? __popc(mask) : blockDim.x * blockDim.y * blockDim.z; }
    GPUPROF_DEVICE_MEMBER unsigned long long num_threads() const { return size(); }
    GPUPROF_DEVICE_MEMBER unsigned long long thread_rank() const { return mask ? __popc(mask & lanes_below()) : rank_in_block(); }
    GPUPROF_DEVICE_MEMBER bool is_valid() const { return true; }
    GPUPROF_DEVICE_MEMBER unsigned int lanes() const { return mask; } // gpuprof's own: the members, as a mask; 0 is the block
    GPUPROF_CONVERGENT void sync() const
    {
        if (mask)
            __syncwarp(mask);
        else
            __syncthreads();
    }

    GPUPROF_DEVICE_MEMBER explicit thread_group(unsigned int mask) : mask(mask) {}
    static GPUPROF_DEVICE_MEMBER unsigned int rank_in_block()
    {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }

protected:
    static GPUPROF_DEVICE_MEMBER unsigned int lanes_below() { return __nvvm_read_ptx_sreg_lanemask_lt(); }
    unsigned int mask;
};

template <int NBYTES> GPUPROF_API auto word_of()
{
    if constexpr (NBYTES == 4)
        return 0u;
    else
        return 0ull;
}

// Values of any type go from lane to lane word by word.
template <typename T, typename SHUFFLE> GPUPROF_SYNC T each_word(const T &value, SHUFFLE shuffle)
{
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
        using Word = decltype(word_of<sizeof(T)>());
        return __builtin_bit_cast(T, shuffle(__builtin_bit_cast(Word, value)));
    } else {
        unsigned int words[(sizeof(T) + 3) / 4] = {};
        __builtin_memcpy(words, &value, sizeof(T));
        for (auto &word : words)
            word = shuffle(word);
        T result;
        __builtin_memcpy(&result, words, sizeof(T));
        return result;
    }
}

class thread_block : public thread_group {
public:
    GPUPROF_DEVICE_MEMBER thread_block() : thread_group(0) {}
    using arrival_token = struct {};
    static GPUPROF_CONVERGENT void sync() { __syncthreads(); }
    static GPUPROF_DEVICE_MEMBER arrival_token barrier_arrive() { return {}; } // all of it is left to barrier_wait
    static GPUPROF_CONVERGENT void barrier_wait(arrival_token = {}) { __syncthreads(); }
    static GPUPROF_DEVICE_MEMBER unsigned int size() { return blockDim.x * blockDim.y * blockDim.z; }
    static GPUPROF_DEVICE_MEMBER unsigned int num_threads() { return size(); }
    static GPUPROF_DEVICE_MEMBER unsigned int thread_rank() { return rank_in_block(); }
    static GPUPROF_DEVICE_MEMBER dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
    static GPUPROF_DEVICE_MEMBER dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
    static GPUPROF_DEVICE_MEMBER dim3 group_dim() { return {blockDim.x, blockDim.y, blockDim.z}; }
    static GPUPROF_DEVICE_MEMBER dim3 dim_threads() { return group_dim(); }
};
GPUPROF_API thread_block this_thread_block() { return {}; }

// The blocks of a cluster, which see each other's shared memory.
class cluster_group {
public:
    using arrival_token = struct {};
    static GPUPROF_CONVERGENT arrival_token barrier_arrive()
    {
        asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
        return {};
    }
    static GPUPROF_CONVERGENT void barrier_wait(arrival_token = {}) { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
    static GPUPROF_CONVERGENT void sync()
    {
        barrier_arrive();
        barrier_wait();
    }
    static GPUPROF_DEVICE_MEMBER unsigned int block_rank() { return GPUPROF_SPECIAL("%cluster_ctarank"); }
    static GPUPROF_DEVICE_MEMBER unsigned int num_blocks() { return GPUPROF_SPECIAL("%cluster_nctarank"); }
    static GPUPROF_DEVICE_MEMBER unsigned int thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
    static GPUPROF_DEVICE_MEMBER unsigned int num_threads() { return num_blocks() * thread_block::size(); }
    static GPUPROF_DEVICE_MEMBER unsigned int size() { return num_threads(); }
    static GPUPROF_DEVICE_MEMBER dim3 block_index()
    {
        return {GPUPROF_SPECIAL("%cluster_ctaid.x"), GPUPROF_SPECIAL("%cluster_ctaid.y"), GPUPROF_SPECIAL("%cluster_ctaid.z")};
    }
    static GPUPROF_DEVICE_MEMBER dim3 dim_blocks()
    {
        return {GPUPROF_SPECIAL("%cluster_nctaid.x"), GPUPROF_SPECIAL("%cluster_nctaid.y"), GPUPROF_SPECIAL("%cluster_nctaid.z")};
    }
    template <typename T> static GPUPROF_DEVICE_MEMBER T *map_shared_rank(T *address, int rank)
    {
        T *there;
        asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(address), "r"(rank));
        return there;
    }
    static GPUPROF_DEVICE_MEMBER unsigned int query_shared_rank(const void *address)
    {
        unsigned int rank;
        asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(address));
        return rank;
    }
};
GPUPROF_API cluster_group this_cluster() { return {}; }

// All blocks of a launch, which has to fit on the GPU at once; sync() counts blocks in a word that the driver provides.
class grid_group {
public:
    static GPUPROF_DEVICE_MEMBER bool is_valid() { return true; }
    static GPUPROF_CONVERGENT void sync()
    {
        unsigned long long place = (unsigned long long)GPUPROF_SPECIAL("%envreg1") << 32 | GPUPROF_SPECIAL("%envreg2");
        volatile unsigned int *arrived = (volatile unsigned int *)place + 1;
        __syncthreads();
        if (thread_block::thread_rank() == 0) {
            // Each barrier adds 2^31 in all: the top bit flips when the last block has come.
            unsigned int mine = block_rank() == 0 ? 0x80000000u - ((unsigned int)num_blocks() - 1) : 1;
            // As CUDA 12 and 13 do it: an atomic that releases, and loads that acquire.
            unsigned int before, now;
            asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(arrived), "r"(mine) : "memory");
            do
                asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(arrived) : "memory");
            while (((before ^ now) & 0x80000000u) == 0);
        }
        __syncthreads();
    }
    static GPUPROF_DEVICE_MEMBER unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    static GPUPROF_DEVICE_MEMBER unsigned long long block_rank()
    {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static GPUPROF_DEVICE_MEMBER dim3 block_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
    static GPUPROF_DEVICE_MEMBER dim3 dim_blocks() { return {gridDim.x, gridDim.y, gridDim.z}; }
    static GPUPROF_DEVICE_MEMBER dim3 group_dim() { return dim_blocks(); }
    static GPUPROF_DEVICE_MEMBER unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
    static GPUPROF_DEVICE_MEMBER unsigned long long size() { return num_threads(); }
    static GPUPROF_DEVICE_MEMBER unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
};
GPUPROF_API grid_group this_grid() { return {}; }

// SIZE neighbouring lanes.
template <unsigned int SIZE, typename PARENT = void> class thread_block_tile : public thread_group {
    static_assert(SIZE <= 32 && (SIZE & (SIZE - 1)) == 0, "a tile is 1, 2, 4, 8, 16 or 32 lanes wide");

public:
    GPUPROF_DEVICE_MEMBER thread_block_tile() : thread_group((0xffffffffu >> (32 - SIZE)) << (rank_in_block() & 31 & ~(SIZE - 1))) {}
    template <typename OTHER> GPUPROF_DEVICE_MEMBER thread_block_tile(const thread_block_tile<SIZE, OTHER> &tile) : thread_group(tile.lanes()) {}
    GPUPROF_CONVERGENT void sync() const { __syncwarp(mask); }
    static constexpr GPUPROF_DEVICE_MEMBER unsigned int size() { return SIZE; }
    static constexpr GPUPROF_DEVICE_MEMBER unsigned int num_threads() { return SIZE; }
    static GPUPROF_DEVICE_MEMBER unsigned int thread_rank() { return rank_in_block() & (SIZE - 1); }
    static GPUPROF_DEVICE_MEMBER unsigned int meta_group_rank() { return rank_in_block() / SIZE; }
    static GPUPROF_DEVICE_MEMBER unsigned int meta_group_size() { return (thread_block::size() + SIZE - 1) / SIZE; }
    template <typename T> GPUPROF_CONVERGENT T shfl(T v, int rank) const
    {
        return each_word(v, [&](auto word) { return __shfl_sync(mask, word, rank, SIZE); });
    }
    template <typename T> GPUPROF_CONVERGENT T shfl_up(T v, unsigned int d) const
    {
        return each_word(v, [&](auto word) { return __shfl_up_sync(mask, word, d, SIZE); });
    }
    template <typename T> GPUPROF_CONVERGENT T shfl_down(T v, unsigned int d) const
    {
        return each_word(v, [&](auto word) { return __shfl_down_sync(mask, word, d, SIZE); });
    }
    template <typename T> GPUPROF_CONVERGENT T shfl_xor(T v, unsigned int d) const
    {
        return each_word(v, [&](auto word) { return __shfl_xor_sync(mask, word, d, SIZE); });
    }
    GPUPROF_CONVERGENT int any(int predicate) const { return ballot(predicate) != 0; }
    GPUPROF_CONVERGENT int all(int predicate) const { return __ballot_sync(mask, predicate) == mask; }
    GPUPROF_CONVERGENT unsigned int ballot(int predicate) const { return (__ballot_sync(mask, predicate) & mask) >> first_lane(); }
    template <typename T> GPUPROF_CONVERGENT unsigned int match_any(T v) const { return __match_any_sync(mask, v) >> first_lane(); }
    template <typename T> GPUPROF_CONVERGENT unsigned int match_all(T v, int &predicate) const
    {
        return __match_all_sync(mask, v, &predicate) >> first_lane();
    }

private:
    GPUPROF_DEVICE_MEMBER unsigned int first_lane() const { return __ffs(mask) - 1; }
};
template <unsigned int SIZE, typename PARENT> GPUPROF_API thread_block_tile<SIZE, PARENT> tiled_partition(const PARENT &) { return {}; }

// Lanes of a warp, whichever they are; ranks go by lane.
class coalesced_group : public thread_group {
public:
    GPUPROF_DEVICE_MEMBER explicit coalesced_group(unsigned int lanes, unsigned int rank = 0, unsigned int groups = 1)
        : thread_group(lanes), group_rank(rank), groups(groups)
    {
    }
    GPUPROF_CONVERGENT void sync() const { __syncwarp(mask); }
    GPUPROF_DEVICE_MEMBER unsigned int size() const { return __popc(mask); }
    GPUPROF_DEVICE_MEMBER unsigned int num_threads() const { return size(); }
    GPUPROF_DEVICE_MEMBER unsigned int thread_rank() const { return __popc(mask & lanes_below()); }
    GPUPROF_DEVICE_MEMBER unsigned int meta_group_rank() const { return group_rank; }
    GPUPROF_DEVICE_MEMBER unsigned int meta_group_size() const { return groups; }
    template <typename T> GPUPROF_CONVERGENT T shfl(T v, unsigned int rank) const
    {
        unsigned int lane = mask == 0xffffffffu ? rank : lane_of(rank);
        return each_word(v, [&](auto word) { return __shfl_sync(mask, word, lane); });
    }
    template <typename T> GPUPROF_CONVERGENT T shfl_up(T v, unsigned int d) const
    {
        return shfl(v, thread_rank() >= d ? thread_rank() - d : thread_rank());
    }
    template <typename T> GPUPROF_CONVERGENT T shfl_down(T v, unsigned int d) const
    {
        return shfl(v, thread_rank() + d < size() ? thread_rank() + d : thread_rank());
    }
    GPUPROF_CONVERGENT int any(int predicate) const { return (__ballot_sync(mask, predicate) & mask) != 0; }
    GPUPROF_CONVERGENT int all(int predicate) const { return __ballot_sync(mask, predicate) == mask; }
    GPUPROF_CONVERGENT unsigned int ballot(int predicate) const { return packed(__ballot_sync(mask, predicate)); }
    template <typename T> GPUPROF_CONVERGENT unsigned int match_any(T v) const { return packed(__match_any_sync(mask, v)); }
    template <typename T> GPUPROF_CONVERGENT unsigned int match_all(T v, int &predicate) const
    {
        return packed(__match_all_sync(mask, v, &predicate));
    }

private:
    GPUPROF_DEVICE_MEMBER unsigned int lane_of(unsigned int rank) const { return __fns(mask, 0, rank + 1); }
    // Bits of lanes to bits of ranks.
    GPUPROF_DEVICE_MEMBER unsigned int packed(unsigned int of_lanes) const
    {
        unsigned int of_ranks = 0, rank = 0;
        for (unsigned int left = mask; left; left &= left - 1, ++rank)
            of_ranks |= (of_lanes & left & -left ? 1u : 0u) << rank;
        return of_ranks;
    }
    unsigned int group_rank, groups;
};
GPUPROF_SYNC coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// `size` neighbouring ranks; the size is known at run time only.
GPUPROF_API thread_group tiled_partition(const thread_group &group, unsigned int size)
{
    unsigned int first = thread_group::rank_in_block() & 31 & ~(size - 1);
    return thread_group((0xffffffffu >> (32 - size)) << first);
}
GPUPROF_SYNC coalesced_group tiled_partition(const coalesced_group &group, unsigned int size)
{
    unsigned int lanes = 0, rank = 0, mine = group.thread_rank() / size;
    for (unsigned int left = group.lanes(); left; left &= left - 1, ++rank)
        lanes |= rank / size == mine ? left & -left : 0;
    return coalesced_group(lanes, mine, (group.size() + size - 1) / size);
}

// The members of a warp's group whose label is the same, numbered by label as they are met; the same of a yes or no.
template <typename GROUP, typename LABEL> GPUPROF_SYNC coalesced_group labeled_partition(const GROUP &group, LABEL label)
{
    unsigned int lanes = __match_any_sync(group.lanes(), label), first = lanes & -lanes;
    unsigned int firsts = __ballot_sync(group.lanes(), __nvvm_read_ptx_sreg_lanemask_eq() == first);
    return coalesced_group(lanes, __popc(firsts & (first - 1)), __popc(firsts));
}
template <typename GROUP> GPUPROF_SYNC coalesced_group binary_partition(const GROUP &group, bool predicate)
{
    unsigned int chosen = __ballot_sync(group.lanes(), predicate) & group.lanes();
    return coalesced_group(predicate ? chosen : group.lanes() & ~chosen, predicate, 2);
}

template <typename GROUP> GPUPROF_SYNC void sync(const GROUP &group) { group.sync(); }
template <typename GROUP> GPUPROF_API unsigned long long thread_rank(const GROUP &group) { return group.thread_rank(); }
template <typename GROUP> GPUPROF_API unsigned long long group_size(const GROUP &group) { return group.size(); }

// One member calls `function`, here the first.
template <typename GROUP, typename FUNCTION> GPUPROF_SYNC void invoke_one(const GROUP &group, FUNCTION function)
{
    if (group.thread_rank() == 0)
        function();
}
template <typename GROUP, typename FUNCTION> GPUPROF_SYNC auto invoke_one_broadcast(const GROUP &group, FUNCTION function)
{
    decltype(function()) result{};
    if (group.thread_rank() == 0)
        result = function();
    return group.shfl(result, 0);
}

} // namespace __v1
using namespace __v1;
} // namespace cooperative_groups
#endif
