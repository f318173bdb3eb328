// Copies and fills of the driver, and its arrays.
#include "arena.h"
#include "arrays.h"
#include "driver_arrays.h"
#include "graphs.h"

#include <string.h>

using namespace gpuprof;

namespace {

CUresult copy_bytes(const void *to, const void *from, size_t nbytes, cudaMemcpyKind kind, CUstream stream)
{
    return as(copy((void *)to, from, nbytes, kind, stream));
}
const void *at(CUdeviceptr p) { return (const void *)p; }

// Elements of 1, 2 or 4 bytes, in rows.
CUresult fill_rows(CUdeviceptr p, size_t pitch, unsigned value, unsigned element_nbytes, size_t width, size_t rows, CUstream stream)
{
    const size_t nbytes = width * element_nbytes;
    if (p % element_nbytes || (rows > 1 && (pitch < nbytes || pitch % element_nbytes)))
        return CUDA_ERROR_INVALID_VALUE;
    if (!nbytes || !rows)
        return CUDA_SUCCESS;
    Graph *graph;
    const cudaError_t status = enter(stream, &graph);
    if (status || graph)
        return as(status ? status : add_fill_words(graph, stream, {(char *)p, pitch, 0}, {nbytes, rows, 1}, value, element_nbytes));
    if (element_nbytes == 1)
        return as(fill_box({(char *)p, pitch, 0}, (int)value, {nbytes, rows, 1}, stream));
    return as(ask(Call::fill_words, p, nbytes, value, element_nbytes, pitch, rows, number(stream)).status);
}

CUresult fill_words(CUdeviceptr p, unsigned value, unsigned element_nbytes, size_t n, CUstream stream)
{
    return fill_rows(p, 0, value, element_nbytes, n, 1, stream);
}

// Bytes of an array one after the other.
CUresult flat(CUarray array, size_t offset, size_t nbytes, const void **part)
{
    if (!array)
        return CUDA_ERROR_INVALID_HANDLE;
    const size_t whole = array->row_nbytes() * array->height() * array->depth();
    *part = array->memory + offset;
    return result_of(offset <= whole && nbytes <= whole - offset);
}

CUresult copy_to_array(CUarray to, size_t offset, const void *from, size_t nbytes, cudaMemcpyKind kind, CUstream stream)
{
    const void *part;
    const CUresult error = flat(to, offset, nbytes, &part);
    return error ? error : copy_bytes(part, from, nbytes, kind, stream);
}
CUresult copy_from_array(const void *to, CUarray from, size_t offset, size_t nbytes, cudaMemcpyKind kind, CUstream stream)
{
    const void *part;
    const CUresult error = flat(from, offset, nbytes, &part);
    return error ? error : copy_bytes(to, part, nbytes, kind, stream);
}

// One side of a copy of rows.
struct End {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, pitch, height;
};

CUresult side_of(const End &end, const Box &box, Side *side)
{
    if (end.type == CU_MEMORYTYPE_ARRAY) {
        if (!end.array)
            return CUDA_ERROR_INVALID_HANDLE;
        *side = end.array->side(end.x, end.y, end.z);
        return result_of(end.array->holds(end.x, end.y, end.z, box));
    }
    char *base = end.type == CU_MEMORYTYPE_HOST ? (char *)end.host : (char *)end.device;
    if (!base || end.type < CU_MEMORYTYPE_HOST || end.type > CU_MEMORYTYPE_UNIFIED || (end.type == CU_MEMORYTYPE_DEVICE && !is_device(base)))
        return CUDA_ERROR_INVALID_VALUE;
    const size_t pitch = end.pitch ? end.pitch : box.nbytes + end.x, slice = pitch * (end.height ? end.height : box.rows + end.y);
    if ((box.rows > 1 && pitch < box.nbytes + end.x) || (box.slices > 1 && end.height && end.height < box.rows + end.y))
        return CUDA_ERROR_INVALID_VALUE;
    *side = {base + end.z * slice + end.y * pitch + end.x, pitch, slice};
    return CUDA_SUCCESS;
}

CUresult copy_ends(const End &to, const End &from, const Box &box, CUstream stream)
{
    if (!box.nbytes || !box.rows || !box.slices)
        return CUDA_SUCCESS;
    Side into, out_of;
    CUresult error = side_of(to, box, &into);
    error = error ? error : side_of(from, box, &out_of);
    return error ? error : as(copy_box(into, out_of, box, cudaMemcpyDefault, stream));
}

CUresult copy_2d(const CUDA_MEMCPY2D *how, CUstream stream)
{
    if (!how)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMCPY2D &c = *how;
    return copy_ends({c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstXInBytes, c.dstY, 0, c.dstPitch, 0},
                     {c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcXInBytes, c.srcY, 0, c.srcPitch, 0}, {c.WidthInBytes, c.Height, 1},
                     stream);
}

CUresult copy_3d(const CUDA_MEMCPY3D *how, CUstream stream)
{
    if (!how || how->srcLOD || how->dstLOD)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMCPY3D &c = *how;
    return copy_ends({c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstXInBytes, c.dstY, c.dstZ, c.dstPitch, c.dstHeight},
                     {c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcXInBytes, c.srcY, c.srcZ, c.srcPitch, c.srcHeight},
                     {c.WidthInBytes, c.Height, c.Depth}, stream);
}

// Every copy has the attributes of the last of `firsts` that is not after it.
CUresult copy_batch(const CUdeviceptr *to, const CUdeviceptr *from, const size_t *nbytes, size_t n, const CUmemcpyAttributes *attributes,
                    const size_t *firsts, size_t n_attributes, CUstream stream)
{
    if (!to || !from || !nbytes || !n || !attributes || !firsts || !n_attributes || n_attributes > n || firsts[0])
        return CUDA_ERROR_INVALID_VALUE;
    OneCall whole;
    CUresult error = CUDA_SUCCESS;
    for (size_t i = 0; i < n && !error; ++i)
        error = copy_bytes(at(to[i]), at(from[i]), nbytes[i], cudaMemcpyDefault, stream);
    return error;
}

CUresult make_array(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *how)
{
    cudaChannelFormatDesc form;
    if (!array || !how || !channels_of(how->Format, how->NumChannels, &form))
        return CUDA_ERROR_INVALID_VALUE;
    return as(cudaMalloc3DArray(array, &form, {how->Width, how->Height, how->Depth}, how->Flags));
}

CUresult describe(CUDA_ARRAY3D_DESCRIPTOR *found, CUarray array)
{
    if (!array || !found)
        return array ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    const cudaChannelFormatDesc &form = array->form;
    *found = {array->extent.width, array->extent.height, array->extent.depth, format_of(form), form.w ? 4u : form.y ? 2u : 1u, array->flags};
    return CUDA_SUCCESS;
}

struct Format {
    CUarray_format format;
    int bits;
    cudaChannelFormatKind kind;
};
const Format formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

} // namespace

namespace gpuprof {

bool channels_of(CUarray_format format, unsigned n, cudaChannelFormatDesc *form)
{
    for (const Format &each : formats)
        if (each.format == format) {
            *form = {each.bits, n > 1 ? each.bits : 0, n > 2 ? each.bits : 0, n > 2 ? each.bits : 0, each.kind};
            return n == 1 || n == 2 || n == 4;
        }
    return false;
}

CUarray_format format_of(const cudaChannelFormatDesc &form)
{
    for (const Format &each : formats)
        if (each.bits == form.x && each.kind == form.f)
            return each.format;
    return (CUarray_format)0;
}

} // namespace gpuprof

extern "C" {
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t nbytes, CUstream stream)
{
    return driver_call([=] { return copy_bytes(at(to), at(from), nbytes, cudaMemcpyDefault, stream); });
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t nbytes, CUstream stream)
{
    return driver_call([=] { return copy_bytes(at(to), from, nbytes, cudaMemcpyHostToDevice, stream); });
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t nbytes, CUstream stream)
{
    return driver_call([=] { return copy_bytes(to, at(from), nbytes, cudaMemcpyDeviceToHost, stream); });
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t nbytes, CUstream stream)
{
    return driver_call([=] { return copy_bytes(at(to), at(from), nbytes, cudaMemcpyDeviceToDevice, stream); });
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t nbytes, CUstream stream)
{
    return cuMemcpyDtoDAsync(to, from, nbytes, stream);
}
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t nbytes)
{
    Synchronous all;
    return cuMemcpyAsync(to, from, nbytes, 0);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t nbytes)
{
    Synchronous all;
    return cuMemcpyHtoDAsync(to, from, nbytes, 0);
}
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t nbytes)
{
    Synchronous all;
    return cuMemcpyDtoHAsync(to, from, nbytes, 0);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t nbytes) { return cuMemcpyDtoDAsync(to, from, nbytes, 0); }
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t nbytes) { return cuMemcpyDtoDAsync(to, from, nbytes, 0); }
CUresult cuMemcpyDtoA(CUarray to, size_t offset, CUdeviceptr from, size_t nbytes)
{
    return driver_call([=] { return copy_to_array(to, offset, at(from), nbytes, cudaMemcpyDeviceToDevice, 0); });
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t offset, size_t nbytes)
{
    return driver_call([=] { return copy_from_array(at(to), from, offset, nbytes, cudaMemcpyDeviceToDevice, 0); });
}
CUresult cuMemcpyHtoAAsync(CUarray to, size_t offset, const void *from, size_t nbytes, CUstream stream)
{
    return driver_call([=] { return copy_to_array(to, offset, from, nbytes, cudaMemcpyHostToDevice, stream); });
}
CUresult cuMemcpyAtoHAsync(void *to, CUarray from, size_t offset, size_t nbytes, CUstream stream)
{
    return driver_call([=] { return copy_from_array(to, from, offset, nbytes, cudaMemcpyDeviceToHost, stream); });
}
CUresult cuMemcpyHtoA(CUarray to, size_t offset, const void *from, size_t nbytes)
{
    Synchronous all;
    return cuMemcpyHtoAAsync(to, offset, from, nbytes, 0);
}
CUresult cuMemcpyAtoH(void *to, CUarray from, size_t offset, size_t nbytes)
{
    Synchronous all;
    return cuMemcpyAtoHAsync(to, from, offset, nbytes, 0);
}
CUresult cuMemcpyAtoA(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t nbytes)
{
    return driver_call([=] {
        const void *part;
        const CUresult error = flat(from, from_offset, nbytes, &part);
        return error ? error : copy_to_array(to, to_offset, part, nbytes, cudaMemcpyDeviceToDevice, 0);
    });
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *how, CUstream stream)
{
    return driver_call([=] { return copy_2d(how, stream); });
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D *how)
{
    Synchronous all;
    return cuMemcpy2DAsync(how, 0);
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *how)
{
    Synchronous all;
    return cuMemcpy2DAsync(how, 0);
}
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *how, CUstream stream)
{
    return driver_call([=] { return copy_3d(how, stream); });
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D *how)
{
    Synchronous all;
    return cuMemcpy3DAsync(how, 0);
}
CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *nbytes, size_t n, CUmemcpyAttributes *attributes, size_t *firsts,
                            size_t n_attributes, CUstream stream)
{
    return driver_call([=] { return copy_batch(to, from, nbytes, n, attributes, firsts, n_attributes, stream); });
}

CUresult cuMemsetD2D8Async(CUdeviceptr p, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream)
{
    return driver_call([=] { return fill_rows(p, pitch, value, 1, width, height, stream); });
}
CUresult cuMemsetD2D16Async(CUdeviceptr p, size_t pitch, unsigned short value, size_t width, size_t height, CUstream stream)
{
    return driver_call([=] { return fill_rows(p, pitch, value, 2, width, height, stream); });
}
CUresult cuMemsetD2D32Async(CUdeviceptr p, size_t pitch, unsigned int value, size_t width, size_t height, CUstream stream)
{
    return driver_call([=] { return fill_rows(p, pitch, value, 4, width, height, stream); });
}
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, size_t n, CUstream stream)
{
    return driver_call([=] { return fill_words(p, value, 1, n, stream); });
}
CUresult cuMemsetD16Async(CUdeviceptr p, unsigned short value, size_t n, CUstream stream)
{
    return driver_call([=] { return fill_words(p, value, 2, n, stream); });
}
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned int value, size_t n, CUstream stream)
{
    return driver_call([=] { return fill_words(p, value, 4, n, stream); });
}
CUresult cuMemsetD2D8(CUdeviceptr p, size_t pitch, unsigned char value, size_t width, size_t height)
{
    return cuMemsetD2D8Async(p, pitch, value, width, height, 0);
}
CUresult cuMemsetD2D16(CUdeviceptr p, size_t pitch, unsigned short value, size_t width, size_t height)
{
    return cuMemsetD2D16Async(p, pitch, value, width, height, 0);
}
CUresult cuMemsetD2D32(CUdeviceptr p, size_t pitch, unsigned int value, size_t width, size_t height)
{
    return cuMemsetD2D32Async(p, pitch, value, width, height, 0);
}
CUresult cuMemsetD8(CUdeviceptr p, unsigned char value, size_t n) { return cuMemsetD8Async(p, value, n, 0); }
CUresult cuMemsetD16(CUdeviceptr p, unsigned short value, size_t n) { return cuMemsetD16Async(p, value, n, 0); }
CUresult cuMemsetD32(CUdeviceptr p, unsigned int value, size_t n) { return cuMemsetD32Async(p, value, n, 0); }

CUresult cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *how)
{
    return driver_call([=] { return make_array(array, how); });
}
CUresult cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *how)
{
    return driver_call([=] {
        if (!how)
            return CUDA_ERROR_INVALID_VALUE;
        const CUDA_ARRAY3D_DESCRIPTOR whole = {how->Width, how->Height, 0, how->Format, how->NumChannels, 0};
        return make_array(array, &whole);
    });
}
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *found, CUarray array)
{
    return driver_call([=] { return describe(found, array); });
}
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *found, CUarray array)
{
    return driver_call([=] {
        CUDA_ARRAY3D_DESCRIPTOR whole;
        const CUresult error = found ? describe(&whole, array) : CUDA_ERROR_INVALID_VALUE;
        if (!error)
            *found = {whole.Width, whole.Height, whole.Format, whole.NumChannels};
        return error;
    });
}
CUresult cuArrayDestroy(CUarray array)
{
    return driver_call([=] { return array ? as(cudaFreeArray(array)) : CUDA_ERROR_INVALID_HANDLE; });
}
CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *how, unsigned int levels)
{
    return driver_call([=] {
        cudaChannelFormatDesc form;
        if (!array || !how || !channels_of(how->Format, how->NumChannels, &form))
            return CUDA_ERROR_INVALID_VALUE;
        return as(cudaMallocMipmappedArray(array, &form, {how->Width, how->Height, how->Depth}, levels, how->Flags));
    });
}
CUresult cuMipmappedArrayGetLevel(CUarray *level_array, CUmipmappedArray mipmap, unsigned int level)
{
    return driver_call([=] {
        if (!level_array || !mipmap)
            return mipmap ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
        return as(cudaGetMipmappedArrayLevel(level_array, mipmap, level));
    });
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap)
{
    return driver_call([=] { return mipmap ? as(cudaFreeMipmappedArray(mipmap)) : CUDA_ERROR_INVALID_HANDLE; });
}
}
