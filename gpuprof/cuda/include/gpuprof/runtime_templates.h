// C++'s typed faces of the runtime's functions, and their default arguments.
#pragma once

// Each is a part of the line that calls it.
#define GPUPROF_FACE inline __attribute__((always_inline, nodebug))

GPUPROF_FACE cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t nbytes, cudaMemcpyKind kind) { return cudaMemcpyAsync(to, from, nbytes, kind, 0); }
GPUPROF_FACE cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind)
{
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, 0);
}
GPUPROF_FACE cudaError_t cudaMemsetAsync(void *p, int value, size_t nbytes) { return cudaMemsetAsync(p, value, nbytes, 0); }
GPUPROF_FACE cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags) { return cudaEventCreateWithFlags(event, flags); }
GPUPROF_FACE cudaError_t cudaEventRecord(cudaEvent_t event) { return cudaEventRecord(event, 0); }
GPUPROF_FACE cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event) { return cudaStreamWaitEvent(stream, event, 0); }
GPUPROF_FACE cudaError_t cudaMemPrefetchAsync(const void *p, size_t nbytes, int device) { return cudaMemPrefetchAsync(p, nbytes, device, 0); }
// As since CUDA 13, where the names without a version have these parameters.
GPUPROF_FACE cudaError_t cudaMemPrefetchAsync(const void *p, size_t nbytes, cudaMemLocation location, unsigned int flags, cudaStream_t stream = 0)
{
    return cudaMemPrefetchAsync_v2(p, nbytes, location, flags, stream);
}
GPUPROF_FACE cudaError_t cudaMemAdvise(const void *p, size_t nbytes, cudaMemoryAdvise advice, cudaMemLocation location)
{
    return cudaMemAdvise_v2(p, nbytes, advice, location);
}
GPUPROF_FACE cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *p, size_t nbytes = 0) { return cudaStreamAttachMemAsync(stream, p, nbytes, cudaMemAttachSingle); }
template <typename T> GPUPROF_FACE cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *p, size_t nbytes = 0, unsigned int flags = cudaMemAttachSingle)
{
    return cudaStreamAttachMemAsync(stream, (void *)p, nbytes, flags);
}
GPUPROF_FACE cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = 0) { return cudaEventRecordWithFlags(event, stream, 0); }
GPUPROF_FACE cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags)
{
    return cudaGetDriverEntryPoint(name, function, flags, nullptr);
}
GPUPROF_FACE cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned int version, unsigned long long flags)
{
    return cudaGetDriverEntryPointByVersion(name, function, version, flags, nullptr);
}
template <typename T> GPUPROF_FACE cudaError_t cudaFuncGetName(const char **name, T *kernel) { return cudaFuncGetName(name, (const void *)kernel); }
template <typename T>
GPUPROF_FACE cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared_nbytes, T *kernel, int blocks, int block_threads)
{
    return cudaOccupancyAvailableDynamicSMemPerBlock(shared_nbytes, (const void *)kernel, blocks, block_threads);
}
template <typename T>
GPUPROF_FACE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T kernel, int block_threads, size_t shared_nbytes, unsigned int flags)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)kernel, block_threads, shared_nbytes, flags);
}

template <typename T> GPUPROF_FACE cudaError_t cudaMalloc(T **p, size_t nbytes) { return cudaMalloc((void **)p, nbytes); }
template <typename T> GPUPROF_FACE cudaError_t cudaMallocAsync(T **p, size_t nbytes, cudaStream_t s) { return cudaMallocAsync((void **)p, nbytes, s); }
template <typename T> GPUPROF_FACE cudaError_t cudaMallocHost(T **p, size_t nbytes, unsigned int flags = 0) { return cudaHostAlloc((void **)p, nbytes, flags); }
template <typename T> GPUPROF_FACE cudaError_t cudaHostAlloc(T **p, size_t nbytes, unsigned int flags) { return cudaHostAlloc((void **)p, nbytes, flags); }
template <typename T> GPUPROF_FACE cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned int flags) { return cudaHostGetDevicePointer((void **)device, host, flags); }
template <typename T> GPUPROF_FACE cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t w, size_t h) { return cudaMallocPitch((void **)p, pitch, w, h); }
template <typename T> GPUPROF_FACE cudaError_t cudaMallocManaged(T **p, size_t nbytes, unsigned int flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void **)p, nbytes, flags);
}
template <typename T>
GPUPROF_FACE cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t nbytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cudaMemcpyToSymbol((const void *)&symbol, from, nbytes, offset, kind);
}
template <typename T>
GPUPROF_FACE cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t nbytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return cudaMemcpyFromSymbol(to, (const void *)&symbol, nbytes, offset, kind);
}
template <typename T>
GPUPROF_FACE cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t nbytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream = 0)
{
    return cudaMemcpyToSymbolAsync((const void *)&symbol, from, nbytes, offset, kind, stream);
}
template <typename T>
GPUPROF_FACE cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t nbytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream = 0)
{
    return cudaMemcpyFromSymbolAsync(to, (const void *)&symbol, nbytes, offset, kind, stream);
}
template <typename T> GPUPROF_FACE cudaError_t cudaGetSymbolAddress(void **p, const T &symbol) { return cudaGetSymbolAddress(p, (const void *)&symbol); }
template <typename T> GPUPROF_FACE cudaError_t cudaGetSymbolSize(size_t *nbytes, const T &symbol) { return cudaGetSymbolSize(nbytes, (const void *)&symbol); }
template <typename T> GPUPROF_FACE cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <typename T> GPUPROF_FACE cudaError_t cudaFuncSetCacheConfig(T *kernel, cudaFuncCache config) { return cudaFuncSetCacheConfig((const void *)kernel, config); }
template <typename T> GPUPROF_FACE cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel)
{
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <typename T>
GPUPROF_FACE cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_nbytes = 0, cudaStream_t stream = 0)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared_nbytes, stream);
}
template <typename T>
GPUPROF_FACE cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_nbytes = 0, cudaStream_t stream = 0)
{
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments, shared_nbytes, stream);
}
template <typename T>
GPUPROF_FACE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int block_threads, size_t shared_nbytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, block_threads, shared_nbytes);
}
// The largest block, in whole warps, of those that keep the most threads of an SM busy.
template <typename T, typename Fn>
GPUPROF_FACE cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, T kernel, Fn shared_nbytes_of, int limit = 0)
{
    cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, (const void *)kernel);
    int most = attributes.maxThreadsPerBlock, sms = 0, best = 0;
    error = error ? error : cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    if (limit > 0 && limit < most)
        most = limit;
    for (int threads = (most + 31) / 32 * 32; !error && threads > 0; threads -= 32) {
        const int tried = threads < most ? threads : most;
        int blocks = 0;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)kernel, tried, shared_nbytes_of(tried));
        if (!error && blocks * tried > best) {
            best = blocks * tried;
            *grid = blocks * sms;
            *block = tried;
        }
    }
    return error;
}
template <typename T>
GPUPROF_FACE cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T kernel, size_t shared_nbytes = 0, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, [=](int) { return shared_nbytes; }, limit);
}
template <typename T, typename Fn>
GPUPROF_FACE cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *block, T kernel, Fn shared_nbytes_of, int limit = 0,
                                                                                 unsigned int = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, shared_nbytes_of, limit);
}
template <typename T>
GPUPROF_FACE cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, T kernel, size_t shared_nbytes = 0, int limit = 0, unsigned int = 0)
{
    return cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, shared_nbytes, limit);
}
