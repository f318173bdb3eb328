// Lists the elements above a threshold, in any order; used has how many each place of the list got (1 or 0).
//
// LAUNCH: append<<<256, 256>>>(values: i32[65536]=random, 65536, 100, found: u32[1], list: i32[65536], used: u32[65536])

__device__ unsigned next_place(unsigned *found)
{
    unsigned together = __activemask();
    int lane = threadIdx.x % 32;
    int leader = __ffs(together) - 1;
    unsigned first = 0;
    if (lane == leader)
        first = atomicAdd(found, __popc(together));
    return __shfl_sync(together, first, leader) + __popc(together & ((1u << lane) - 1));
}

__global__ void append(const int *values, int n, int threshold, unsigned *found, int *list, unsigned *used)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && values[i] > threshold) {
        unsigned place = next_place(found);
        list[place] = i;
        used[place] = 1;
    }
}
