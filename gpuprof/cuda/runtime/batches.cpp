// Many copies in one call.
#include "arrays.h"
#include "runtime_copies.h"

using namespace gpuprof;

namespace {

// Each copy has the attributes whose first copy is the last one at or before it; they are hints, but for the order.
bool are_attributes(const cudaMemcpyAttributes *attributes, const size_t *first_of, size_t n_attributes, size_t n)
{
    if (!attributes || !first_of || !n_attributes || n_attributes > n || first_of[0])
        return false;
    for (size_t i = 0; i < n_attributes; ++i) {
        const cudaMemcpySrcAccessOrder order = attributes[i].srcAccessOrder;
        if (order < cudaMemcpySrcAccessOrderStream || order > cudaMemcpySrcAccessOrderAny || (i && first_of[i] <= first_of[i - 1]))
            return false;
    }
    return true;
}

cudaError_t copy_all(void *const *to, const void *const *from, const size_t *nbytes, size_t n, size_t *failed, cudaStream_t stream)
{
    OneCall whole;
    for (size_t i = 0; i < n; ++i)
        if (const cudaError_t status = copy(to[i], from[i], nbytes[i], cudaMemcpyDefault, stream)) {
            *failed = i;
            return status;
        }
    return cudaSuccess;
}

cudaError_t copy_all(void *const *to, const void *const *from, const size_t *nbytes, size_t n, const cudaMemcpyAttributes *attributes,
                     const size_t *first_of, size_t n_attributes, size_t *failed, cudaStream_t stream)
{
    *failed = ~(size_t)0; // none of them
    if (!to || !from || !nbytes || !n || !stream || !are_attributes(attributes, first_of, n_attributes, n))
        return cudaErrorInvalidValue;
    return copy_all(to, from, nbytes, n, failed, stream);
}

// Rows and layers are counted in elements of the array on the other side, or in bytes where there is none.
End end_of(const cudaMemcpy3DOperand &operand, const cudaExtent &extent, size_t element_nbytes)
{
    if (operand.type == cudaMemcpyOperandTypeArray) {
        const cudaOffset3D &at = operand.op.array.offset;
        return {operand.op.array.array, {at.x, at.y, at.z}, {}};
    }
    const auto &memory = operand.op.ptr;
    const size_t row = memory.rowLength ? memory.rowLength : extent.width, layer = memory.layerHeight ? memory.layerHeight : extent.height;
    return {nullptr, {}, {memory.ptr, row * element_nbytes, row * element_nbytes, layer}};
}

const cudaArray *array_of(const cudaMemcpy3DOperand &operand)
{
    return operand.type == cudaMemcpyOperandTypeArray ? operand.op.array.array : nullptr;
}

cudaError_t copy_one(const cudaMemcpy3DBatchOp &copy, cudaStream_t stream)
{
    const cudaArray *array = array_of(copy.dst) ? array_of(copy.dst) : array_of(copy.src);
    const size_t element_nbytes = array ? array->texel_nbytes() : 1;
    return copy_3d(end_of(copy.dst, copy.extent, element_nbytes), end_of(copy.src, copy.extent, element_nbytes), copy.extent, cudaMemcpyDefault,
                   stream);
}

cudaError_t copy_boxes(size_t n, const cudaMemcpy3DBatchOp *copies, size_t *failed, unsigned long long flags, cudaStream_t stream)
{
    *failed = ~(size_t)0;
    if (!n || !copies || flags || !stream)
        return cudaErrorInvalidValue;
    OneCall whole;
    for (size_t i = 0; i < n; ++i)
        if (const cudaError_t status = copy_one(copies[i], stream)) {
            *failed = i;
            return status;
        }
    return cudaSuccess;
}

} // namespace

extern "C" {
cudaError_t cudaMemcpyBatchAsync(void **to, void **from, size_t *nbytes, size_t n, cudaMemcpyAttributes *attributes, size_t *first_of,
                                 size_t n_attributes, size_t *failed, cudaStream_t stream)
{
    size_t unseen;
    return result(copy_all(to, from, nbytes, n, attributes, first_of, n_attributes, failed ? failed : &unseen, stream));
}
cudaError_t cudaMemcpyBatchAsync_v2(void *const *to, const void *const *from, const size_t *nbytes, size_t n, cudaMemcpyAttributes *attributes,
                                    size_t *first_of, size_t n_attributes, cudaStream_t stream)
{
    size_t unseen;
    return result(copy_all(to, from, nbytes, n, attributes, first_of, n_attributes, &unseen, stream));
}
cudaError_t cudaMemcpy3DBatchAsync(size_t n, cudaMemcpy3DBatchOp *copies, size_t *failed, unsigned long long flags, cudaStream_t stream)
{
    size_t unseen;
    return result(copy_boxes(n, copies, failed ? failed : &unseen, flags, stream));
}
cudaError_t cudaMemcpy3DBatchAsync_v2(size_t n, cudaMemcpy3DBatchOp *copies, unsigned long long flags, cudaStream_t stream)
{
    size_t unseen;
    return result(copy_boxes(n, copies, &unseen, flags, stream));
}
}
