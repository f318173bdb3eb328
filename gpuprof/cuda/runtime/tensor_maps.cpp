// Tensor maps: 128 bytes that a kernel's copies of tiles go by, in the layout of isa/tensormap.py.
#include "arena.h"
#include "driver_calls.h"

#include <string.h>

using namespace gpuprof;

namespace {

struct Layout {
    unsigned long long address, strides[4];
    unsigned extents[5], last_dimension, box[5], steps[5];
    unsigned char element, interleave, swizzle, fill, atomicity, is_im2col;
    short lower[3], upper[3];
    unsigned short channels, pixels, magic;
};
static_assert(sizeof(Layout) == sizeof(CUtensorMap), "128 bytes");

constexpr unsigned short magic = 0x4d54;
// Bytes of an element, by number of its type; those of less than a byte are not there.
const unsigned element_nbytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
// cuda.h counts float, double, bfloat16 and the types after them as the layout does, but for their order.
const unsigned char element_numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12};

struct Tensor { // what both forms are given
    CUtensorMapDataType type;
    unsigned rank;
    const void *address;
    const cuuint64_t *extents, *strides;
    const cuuint32_t *steps;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};

bool is_float(CUtensorMapDataType type) { return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16; }

bool is_known(const Tensor &tensor)
{
    return tensor.type < sizeof element_nbytes / sizeof *element_nbytes && tensor.swizzle <= CU_TENSOR_MAP_SWIZZLE_128B &&
           tensor.interleave <= CU_TENSOR_MAP_INTERLEAVE_32B && tensor.promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
           tensor.fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA && (!tensor.fill || is_float(tensor.type));
}

CUresult start(const Tensor &tensor, Layout *made)
{
    if (!tensor.address || !tensor.extents || !tensor.steps || (tensor.rank > 1 && !tensor.strides) || !is_known(tensor))
        return CUDA_ERROR_INVALID_VALUE;
    if (tensor.rank < 1 || tensor.rank > 5 || (size_t)tensor.address % (tensor.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16))
        return CUDA_ERROR_INVALID_VALUE;
    if (tensor.interleave) { // a layout of channels in slices
        ask_with(text("a tensor map with interleave"), nullptr, Call::refuse);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    *made = {};
    made->address = (unsigned long long)tensor.address;
    made->last_dimension = tensor.rank - 1;
    made->element = element_numbers[tensor.type];
    made->swizzle = (unsigned char)tensor.swizzle;
    made->fill = (unsigned char)tensor.fill;
    made->magic = magic;
    for (unsigned i = 0; i < 5; ++i)
        made->box[i] = made->steps[i] = 1;
    for (unsigned i = 0; i < tensor.rank; ++i) {
        if (!tensor.extents[i] || tensor.extents[i] > 1ull << 32 || tensor.steps[i] < 1 || tensor.steps[i] > 8)
            return CUDA_ERROR_INVALID_VALUE;
        made->extents[i] = (unsigned)tensor.extents[i];
        made->steps[i] = tensor.steps[i];
    }
    for (unsigned i = 0; i + 1 < tensor.rank; ++i) {
        if (tensor.strides[i] % 16 || tensor.strides[i] >= 1ull << 40)
            return CUDA_ERROR_INVALID_VALUE;
        made->strides[i] = tensor.strides[i];
    }
    return CUDA_SUCCESS;
}

// A row of a box has whole 16 bytes, and no more than the pattern of the swizzle.
bool is_row(const Tensor &tensor, unsigned elements)
{
    const unsigned nbytes = elements * element_nbytes[tensor.type];
    return nbytes % 16 == 0 && (!tensor.swizzle || nbytes <= 16u << tensor.swizzle);
}

CUresult tiled(CUtensorMap *map, const Tensor &tensor, const cuuint32_t *box)
{
    Layout made;
    const CUresult error = map && box ? start(tensor, &made) : CUDA_ERROR_INVALID_VALUE;
    if (error)
        return error;
    for (unsigned i = 0; i < tensor.rank; ++i) {
        if (box[i] < 1 || box[i] > 256)
            return CUDA_ERROR_INVALID_VALUE;
        made.box[i] = box[i];
    }
    if (!is_row(tensor, box[0]))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(map, &made, sizeof made);
    return CUDA_SUCCESS;
}

CUresult im2col(CUtensorMap *map, const Tensor &tensor, const int *lower, const int *upper, unsigned channels, unsigned pixels)
{
    Layout made;
    const CUresult error = map && lower && upper ? start(tensor, &made) : CUDA_ERROR_INVALID_VALUE;
    if (error)
        return error;
    const int most = tensor.rank == 3 ? 1 << 15 : tensor.rank == 4 ? 1 << 7 : 1 << 4; // of corners: cuda.h
    if (tensor.rank < 3 || channels < 1 || channels > 256 || pixels < 1 || pixels > 1024 || !is_row(tensor, channels))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i + 2 < tensor.rank; ++i) {
        if (lower[i] < -most || lower[i] >= most || upper[i] < -most || upper[i] >= most)
            return CUDA_ERROR_INVALID_VALUE;
        made.lower[i] = (short)lower[i];
        made.upper[i] = (short)upper[i];
    }
    made.is_im2col = 1;
    made.channels = (unsigned short)channels;
    made.pixels = (unsigned short)pixels;
    memcpy(map, &made, sizeof made);
    return CUDA_SUCCESS;
}

} // namespace

extern "C" {
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *dimensions,
                                const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    return driver_call<Needs::nothing>(
        [=] { return tiled(map, {type, rank, address, dimensions, strides, element_strides, interleave, swizzle, promotion, fill}, box); });
}
CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *dimensions,
                                 const cuuint64_t *strides, const int *lower, const int *upper, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t *element_strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    return driver_call<Needs::nothing>([=] {
        return im2col(map, {type, rank, address, dimensions, strides, element_strides, interleave, swizzle, promotion, fill}, lower, upper, channels,
                      pixels);
    });
}
CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
    return driver_call<Needs::nothing>([=] {
        const bool is_right = map && ((const Layout *)map)->magic == magic && address && (size_t)address % 16 == 0;
        if (is_right)
            memcpy(map, &address, sizeof address);
        return result_of(is_right);
    });
}
}
