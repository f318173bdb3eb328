// Cooperative groups of a block, of a warp and of a cluster (sm_90). Groups of the whole grid are not offered.
#pragma once
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

// What all groups have in common: some threads of a warp (`mask`), or the block (`mask` is 0).
class thread_group {
public:
    GPUPROF_DEVICE_MEMBER unsigned long long size() const { return mask ? __popc(mask) : blockDim.x * blockDim.y * blockDim.z; }
    GPUPROF_DEVICE_MEMBER unsigned long long num_threads() const { return size(); }
    GPUPROF_DEVICE_MEMBER unsigned long long thread_rank() const { return mask ? __popc(mask & lanes_below()) : rank_in_block(); }
    GPUPROF_DEVICE_MEMBER void sync() const
    {
        if (mask)
            __syncwarp(mask);
        else
            __syncthreads();
    }

protected:
    GPUPROF_DEVICE_MEMBER explicit thread_group(unsigned int mask) : mask(mask) {}
    static GPUPROF_DEVICE_MEMBER unsigned int lanes_below() { return __nvvm_read_ptx_sreg_lanemask_lt(); }
    static GPUPROF_DEVICE_MEMBER unsigned int rank_in_block()
    {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    unsigned int mask;
};

class thread_block : public thread_group {
public:
    GPUPROF_DEVICE_MEMBER thread_block() : thread_group(0) {}
    static GPUPROF_DEVICE_MEMBER void sync() { __syncthreads(); }
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

// SIZE neighbouring lanes.
template <unsigned int SIZE, typename PARENT = thread_block> class thread_block_tile : public thread_group {
    static_assert(SIZE <= 32 && (SIZE & (SIZE - 1)) == 0, "a tile is 1, 2, 4, 8, 16 or 32 lanes wide");

public:
    GPUPROF_DEVICE_MEMBER thread_block_tile() : thread_group((0xffffffffu >> (32 - SIZE)) << (rank_in_block() & 31 & ~(SIZE - 1))) {}
    GPUPROF_DEVICE_MEMBER void sync() const { __syncwarp(mask); }
    static constexpr GPUPROF_DEVICE_MEMBER unsigned int size() { return SIZE; }
    static constexpr GPUPROF_DEVICE_MEMBER unsigned int num_threads() { return SIZE; }
    static GPUPROF_DEVICE_MEMBER unsigned int thread_rank() { return rank_in_block() & (SIZE - 1); }
    static GPUPROF_DEVICE_MEMBER unsigned int meta_group_rank() { return rank_in_block() / SIZE; }
    static GPUPROF_DEVICE_MEMBER unsigned int meta_group_size() { return (thread_block::size() + SIZE - 1) / SIZE; }
    template <typename T> GPUPROF_DEVICE_MEMBER T shfl(T v, int rank) const { return __shfl_sync(mask, v, rank, SIZE); }
    template <typename T> GPUPROF_DEVICE_MEMBER T shfl_up(T v, unsigned int d) const { return __shfl_up_sync(mask, v, d, SIZE); }
    template <typename T> GPUPROF_DEVICE_MEMBER T shfl_down(T v, unsigned int d) const { return __shfl_down_sync(mask, v, d, SIZE); }
    template <typename T> GPUPROF_DEVICE_MEMBER T shfl_xor(T v, unsigned int d) const { return __shfl_xor_sync(mask, v, d, SIZE); }
    GPUPROF_DEVICE_MEMBER int any(int predicate) const { return __any_sync(mask, predicate); }
    GPUPROF_DEVICE_MEMBER int all(int predicate) const { return __all_sync(mask, predicate); }
    GPUPROF_DEVICE_MEMBER unsigned int ballot(int predicate) const { return __ballot_sync(mask, predicate) >> first_lane(); }
    template <typename T> GPUPROF_DEVICE_MEMBER unsigned int match_any(T v) const { return __match_any_sync(mask, v) >> first_lane(); }

private:
    GPUPROF_DEVICE_MEMBER unsigned int first_lane() const { return __ffs(mask) - 1; }
};
template <unsigned int SIZE, typename PARENT> GPUPROF_API thread_block_tile<SIZE, PARENT> tiled_partition(const PARENT &) { return {}; }

// The lanes that are here together.
class coalesced_group : public thread_group {
public:
    GPUPROF_DEVICE_MEMBER explicit coalesced_group(unsigned int lanes) : thread_group(lanes) {}
    GPUPROF_DEVICE_MEMBER void sync() const { __syncwarp(mask); }
    template <typename T> GPUPROF_DEVICE_MEMBER T shfl(T v, unsigned int rank) const { return __shfl_sync(mask, v, lane_of(rank)); }
    GPUPROF_DEVICE_MEMBER int any(int predicate) const { return __any_sync(mask, predicate); }
    GPUPROF_DEVICE_MEMBER int all(int predicate) const { return __all_sync(mask, predicate); }

private:
    GPUPROF_DEVICE_MEMBER unsigned int lane_of(unsigned int rank) const
    {
        unsigned int lanes = mask;
        for (; rank; --rank)
            lanes &= lanes - 1;
        return __ffs(lanes) - 1;
    }
};
GPUPROF_SYNC coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <typename GROUP> GPUPROF_API void sync(const GROUP &group) { group.sync(); }

} // namespace cooperative_groups
