// Stream compaction: one atomic for the active lanes of a warp; only the leader sets the variable that all of them shuffle.
__device__ int atomicAggInc(int *ctr)
{
    unsigned active = __activemask();
    int leader = __ffs(active) - 1;
    int change = __popc(active);
    unsigned lane_mask_lt; asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lane_mask_lt));
    unsigned rank = __popc(active & lane_mask_lt);
    int warp_res;
    if (rank == 0) warp_res = atomicAdd(ctr, change);
    warp_res = __shfl_sync(active, warp_res, leader);
    return warp_res + rank;
}
__global__ void filter_k(int *dst, int *nres, const int *src, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    if (src[i] > 0) dst[atomicAggInc(nres)] = src[i];
}
