// Reductions as CUDA's samples teach them: interleaved, by shuffles over a strided grid, with cooperative groups; the host part is not used.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
namespace cg = cooperative_groups;

template <class T> struct SharedMemory {
    __device__ inline operator T *()
    {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
    __device__ inline operator const T *() const
    {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
};
template <> struct SharedMemory<double> {
    __device__ inline operator double *()
    {
        extern __shared__ double __smem_d[];
        return (double *)__smem_d;
    }
};
template <typename T> __device__ __forceinline__ T warpReduceSum(unsigned int mask, T mySum)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        mySum += __shfl_down_sync(mask, mySum, offset);
    return mySum;
}
template <typename T> __global__ void reduce0(const T *g_idata, T *g_odata, unsigned int n)
{
    cg::thread_block cta = cg::this_thread_block();
    T *sdata = SharedMemory<T>();
    unsigned int tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = (i < n) ? g_idata[i] : 0;
    cg::sync(cta);
    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        if ((tid % (2 * s)) == 0)
            sdata[tid] += sdata[tid + s];
        cg::sync(cta);
    }
    if (tid == 0)
        g_odata[blockIdx.x] = sdata[0];
}
template <typename T, unsigned int blockSize, bool nIsPow2>
__global__ void reduce7(const T *__restrict__ g_idata, T *__restrict__ g_odata, unsigned int n)
{
    T *sdata = SharedMemory<T>();
    unsigned int tid = threadIdx.x, gridSize = blockSize * gridDim.x;
    unsigned int maskLength = (blockSize & 31);
    maskLength = (maskLength > 0) ? (32 - maskLength) : maskLength;
    const unsigned int mask = (0xffffffff) >> maskLength;
    T mySum = 0;
    if (nIsPow2) {
        unsigned int i = blockIdx.x * blockSize * 2 + threadIdx.x;
        gridSize = gridSize << 1;
        while (i < n) {
            mySum += g_idata[i];
            if ((i + blockSize) < n)
                mySum += g_idata[i + blockSize];
            i += gridSize;
        }
    } else {
        unsigned int i = blockIdx.x * blockSize + threadIdx.x;
        while (i < n) {
            mySum += g_idata[i];
            i += gridSize;
        }
    }
    mySum = warpReduceSum<T>(mask, mySum);
    if ((tid % warpSize) == 0)
        sdata[tid / warpSize] = mySum;
    __syncthreads();
    const unsigned int shmem_extent = (blockSize / warpSize) > 0 ? (blockSize / warpSize) : 1;
    const unsigned int ballot_result = __ballot_sync(mask, tid < shmem_extent);
    if (tid < shmem_extent) {
        mySum = sdata[tid];
        mySum = warpReduceSum<T>(ballot_result, mySum);
    }
    if (tid == 0)
        g_odata[blockIdx.x] = mySum;
}
template <typename T, int MultiWarpGroupSize> __global__ void multi_warp_cg_reduce(T *g_idata, T *g_odata, unsigned int n)
{
    T *sdata = SharedMemory<T>();
    cg::thread_block cta = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(cta);
    T v = 0;
    for (unsigned i = blockIdx.x * blockDim.x + cta.thread_rank(); i < n; i += gridDim.x * blockDim.x)
        v += g_idata[i];
    v = cg::reduce(tile, v, cg::plus<T>());
    if (tile.thread_rank() == 0)
        sdata[tile.meta_group_rank()] = v;
    cg::sync(cta);
    if (tile.meta_group_rank() == 0) {
        T w = tile.thread_rank() < tile.meta_group_size() ? sdata[tile.thread_rank()] : T(0);
        for (int o = tile.size() / 2; o > 0; o /= 2)
            w += tile.shfl_down(w, o);
        if (tile.thread_rank() == 0)
            atomicAdd(g_odata, w);
    }
}
template __global__ void reduce0<int>(const int *, int *, unsigned);
template __global__ void reduce0<double>(const double *, double *, unsigned);
template __global__ void reduce7<float, 256, true>(const float *, float *, unsigned);
template __global__ void reduce7<int, 128, false>(const int *, int *, unsigned);
template __global__ void multi_warp_cg_reduce<int, 0>(int *, int *, unsigned);
extern "C" bool isPow2(unsigned int x);
bool isPow2(unsigned int x)
{
    return ((x & (x - 1)) == 0);
}
template <class T> void reduce(int size, int threads, int blocks, int whichKernel, T *d_idata, T *d_odata)
{
    dim3 dimBlock(threads, 1, 1);
    dim3 dimGrid(blocks, 1, 1);
    int smemSize = (threads <= 32) ? 2 * threads * sizeof(T) : threads * sizeof(T);
    switch (whichKernel) {
    case 0:
        reduce0<T><<<dimGrid, dimBlock, smemSize>>>(d_idata, d_odata, size);
        break;
    case 7:
        if (isPow2(size))
            switch (threads) {
            case 512:
                reduce7<T, 512, true><<<dimGrid, dimBlock, smemSize>>>(d_idata, d_odata, size);
                break;
            }
    }
}
template void reduce<int>(int, int, int, int, int *, int *);
