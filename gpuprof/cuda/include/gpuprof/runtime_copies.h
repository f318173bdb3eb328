// Many copies in one call, as CUDA 12.8 has them; the names without the word of a failed copy are as since CUDA 13.
#pragma once

#include "texture_runtime.h"

enum cudaMemcpySrcAccessOrder {
    cudaMemcpySrcAccessOrderInvalid,
    cudaMemcpySrcAccessOrderStream,
    cudaMemcpySrcAccessOrderDuringApiCall,
    cudaMemcpySrcAccessOrderAny,
};
enum cudaMemcpyFlags { cudaMemcpyFlagDefault, cudaMemcpyFlagPreferOverlapWithCompute };
enum cudaMemcpy3DOperandType { cudaMemcpyOperandTypePointer = 1, cudaMemcpyOperandTypeArray = 2 };
struct cudaMemcpyAttributes {
    enum cudaMemcpySrcAccessOrder srcAccessOrder;
    struct cudaMemLocation srcLocHint, dstLocHint;
    unsigned int flags;
};
struct cudaOffset3D {
    size_t x, y, z;
};
struct cudaMemcpy3DOperand {
    enum cudaMemcpy3DOperandType type;
    union {
        struct {
            void *ptr;
            size_t rowLength, layerHeight;
            struct cudaMemLocation locHint;
        } ptr;
        struct {
            cudaArray_t array;
            struct cudaOffset3D offset;
        } array;
    } op;
};
struct cudaMemcpy3DBatchOp {
    struct cudaMemcpy3DOperand src, dst;
    struct cudaExtent extent;
    enum cudaMemcpySrcAccessOrder srcAccessOrder;
    unsigned int flags;
};

GPUPROF_C_BEGIN
cudaError_t cudaMemcpyBatchAsync(void **to, void **from, size_t *nbytes, size_t n, struct cudaMemcpyAttributes *attributes, size_t *first_of,
                                 size_t n_attributes, size_t *failed, cudaStream_t stream);
cudaError_t cudaMemcpyBatchAsync_v2(void *const *to, const void *const *from, const size_t *nbytes, size_t n, struct cudaMemcpyAttributes *attributes,
                                    size_t *first_of, size_t n_attributes, cudaStream_t stream);
cudaError_t cudaMemcpy3DBatchAsync(size_t n, struct cudaMemcpy3DBatchOp *copies, size_t *failed, unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemcpy3DBatchAsync_v2(size_t n, struct cudaMemcpy3DBatchOp *copies, unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemPrefetchBatchAsync(void **p, size_t *nbytes, size_t n, struct cudaMemLocation *locations, size_t *first_of, size_t n_locations,
                                      unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemDiscardBatchAsync(void **p, size_t *nbytes, size_t n, unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **p, size_t *nbytes, size_t n, struct cudaMemLocation *locations, size_t *first_of,
                                                size_t n_locations, unsigned long long flags, cudaStream_t stream);
GPUPROF_C_END

#if defined(__cplusplus) && !defined(GPUPROF_RUNTIME)
GPUPROF_FACE cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *nbytes, size_t n,
                                              cudaMemcpyAttributes *attributes, size_t *first_of, size_t n_attributes, cudaStream_t stream)
{
    return cudaMemcpyBatchAsync_v2(to, from, nbytes, n, attributes, first_of, n_attributes, stream);
}
GPUPROF_FACE cudaError_t cudaMemcpy3DBatchAsync(size_t n, cudaMemcpy3DBatchOp *copies, unsigned long long flags, cudaStream_t stream)
{
    return cudaMemcpy3DBatchAsync_v2(n, copies, flags, stream);
}
#endif
