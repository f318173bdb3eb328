// Arrays, their copies, and pitched memory of three dimensions.
#include "arrays.h"
#include "arena.h"
#include "captures.h"

using namespace gpuprof;

bool gpuprof::box_of(const End &to, const End &from, cudaExtent extent, Box *box)
{
    if (!(to.array || to.memory.ptr) || !(from.array || from.memory.ptr))
        return false;
    const cudaArray *of = to.array ? to.array : from.array;
    *box = {extent.width * (of ? of->texel_nbytes() : 1), extent.height, extent.depth};
    return to.holds(*box) && from.holds(*box);
}

cudaError_t gpuprof::copy_3d(const End &to, const End &from, cudaExtent extent, cudaMemcpyKind kind, cudaStream_t stream)
{
    Box box;
    return box_of(to, from, extent, &box) ? copy_box(to.side(), from.side(), box, kind, stream) : cudaErrorInvalidValue;
}

namespace {

constexpr size_t most_extent = 1 << 17; // CUDA C++ Programming Guide: the largest extent of an array in one dimension

bool is_channel(int bits) { return bits == 0 || bits == 8 || bits == 16 || bits == 32; }

bool is_form(const cudaChannelFormatDesc &form)
{
    const bool is_width = form.x && is_channel(form.x) && (form.f != cudaChannelFormatKindFloat || form.x >= 16);
    const bool is_equal = (!form.y || form.y == form.x) && form.z == form.w && (!form.z || (form.z == form.x && form.y));
    return is_width && is_equal && form.f <= cudaChannelFormatKindFloat;
}

bool is_extent(const cudaExtent &extent)
{
    return extent.width && extent.width <= most_extent && extent.height <= most_extent && extent.depth <= most_extent;
}

cudaError_t make_array(cudaArray **array, const cudaChannelFormatDesc *form, cudaExtent extent, unsigned flags)
{
    if (!array || !form || !is_extent(extent))
        return cudaErrorInvalidValue;
    if (!is_form(*form))
        return cudaErrorInvalidChannelDescriptor;
    if (flags & (cudaArraySparse | cudaArrayDeferredMapping))
        return not_supported("sparse arrays, and arrays without memory");
    cudaArray made = {nullptr, *form, extent, flags, false};
    const cudaError_t status = allocate((void **)&made.memory, made.row_nbytes() * made.height() * made.depth(), device_memory, "array");
    if (status)
        return status;
    *array = (cudaArray *)malloc(sizeof made);
    **array = made;
    return cudaSuccess;
}

size_t half(size_t extent, unsigned level) { return extent ? (extent >> level ? extent >> level : 1) : 0; }

cudaError_t make_levels(cudaMipmappedArray *made, const cudaChannelFormatDesc *form, cudaExtent extent, unsigned n_levels, unsigned flags)
{
    const bool is_layered = flags & (cudaArrayLayered | cudaArrayCubemap);
    for (unsigned level = 0; level < n_levels; ++level) {
        cudaArray *one;
        const cudaExtent its = {half(extent.width, level), half(extent.height, level), is_layered ? extent.depth : half(extent.depth, level)};
        if (const cudaError_t status = make_array(&one, form, its, flags))
            return status;
        one->is_level = true;
        made->levels.add(one);
    }
    return cudaSuccess;
}

cudaError_t free_levels(cudaMipmappedArray *array)
{
    cudaError_t status = cudaSuccess;
    for (cudaArray *level : array->levels) {
        if (const cudaError_t failed = release(level->memory))
            status = failed;
        free(level);
    }
    array->levels.clear();
    free(array);
    return status;
}

cudaError_t copy_3d(const cudaMemcpy3DParms *p, cudaStream_t stream)
{
    if (!p)
        return cudaErrorInvalidValue;
    return gpuprof::copy_3d({p->dstArray, p->dstPos, p->dstPtr}, {p->srcArray, p->srcPos, p->srcPtr}, p->extent, p->kind, stream);
}

cudaError_t copy_3d(const cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    if (!p || p->srcDevice || p->dstDevice)
        return p ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    return gpuprof::copy_3d({p->dstArray, p->dstPos, p->dstPtr}, {p->srcArray, p->srcPos, p->srcPtr}, p->extent, cudaMemcpyDefault, stream);
}

cudaError_t copy_to_array(cudaArray *to, size_t x, size_t y, Side from, Box box, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (!to || !from.base || !to->holds(x, y, 0, box))
        return cudaErrorInvalidValue;
    return copy_box(to->side(x, y, 0), from, box, kind, stream);
}

cudaError_t copy_from_array(Side to, const cudaArray *from, size_t x, size_t y, Box box, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (!from || !to.base || !from->holds(x, y, 0, box))
        return cudaErrorInvalidValue;
    return copy_box(to, from->side(x, y, 0), box, kind, stream);
}

// Bytes of an array one after the other, from a place on.
char *flat_part(const cudaArray *array, size_t x, size_t y, size_t nbytes)
{
    const size_t first = array ? y * array->row_nbytes() + x : 0;
    return array && first + nbytes <= array->row_nbytes() * array->height() ? array->memory + first : nullptr;
}

constexpr size_t pitch_nbytes = 512;

} // namespace

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) { return {x, y, z, w, f}; }
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *form, cudaArray_const_t array)
{
    if (form && array)
        *form = array->form;
    return result_if(form && array);
}
cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *form, size_t width, size_t height, unsigned int flags)
{
    return result(make_array(array, form, {width, height, 0}, flags));
}
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *form, cudaExtent extent, unsigned int flags)
{
    return result(make_array(array, form, extent, flags));
}
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array, const cudaChannelFormatDesc *form, cudaExtent extent, unsigned int levels,
                                     unsigned int flags)
{
    if (!array || !levels || levels > 32)
        return result(cudaErrorInvalidValue);
    cudaMipmappedArray *made = (cudaMipmappedArray *)calloc(1, sizeof *made);
    const cudaError_t status = make_levels(made, form, extent, levels, flags);
    if (status)
        free_levels(made);
    *array = status ? nullptr : made;
    return result(status);
}
cudaError_t cudaFreeArray(cudaArray_t array)
{
    if (!array)
        return result(cudaSuccess);
    if (array->is_level)
        return result(cudaErrorInvalidValue);
    const cudaError_t status = release(array->memory);
    free(array);
    return result(status);
}
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) { return result(array ? free_levels(array) : cudaSuccess); }
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *level_array, cudaMipmappedArray_const_t array, unsigned int level)
{
    const bool is_there = array && level < array->levels.n;
    *level_array = is_there ? array->levels[level] : nullptr;
    return result_if(is_there);
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *form, cudaExtent *extent, unsigned int *flags, cudaArray_t array)
{
    if (!array)
        return result(cudaErrorInvalidResourceHandle);
    if (form)
        *form = array->form;
    if (extent)
        *extent = array->extent;
    if (flags)
        *flags = array->flags;
    return result(cudaSuccess);
}

// No array here has planes, is sparse or waits for its memory: CUDA gives this error for all others, too.
cudaError_t cudaArrayGetPlane(cudaArray_t *, cudaArray_t, unsigned int) { return result(cudaErrorInvalidValue); }
cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements *, cudaArray_t, int) { return result(cudaErrorInvalidValue); }
cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements *, cudaMipmappedArray_t, int)
{
    return result(cudaErrorInvalidValue);
}
cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties *, cudaArray_t) { return result(cudaErrorInvalidValue); }
cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties *, cudaMipmappedArray_t) { return result(cudaErrorInvalidValue); }

cudaError_t cudaMalloc3D(cudaPitchedPtr *p, cudaExtent extent)
{
    const size_t pitch = (extent.width + pitch_nbytes - 1) / pitch_nbytes * pitch_nbytes;
    *p = {nullptr, pitch, extent.width, extent.height};
    return result(allocate(&p->ptr, pitch * extent.height * extent.depth, device_memory, "cudaMalloc3D"));
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t stream)
{
    return result(fill_box({(char *)p.ptr, p.pitch, p.pitch * p.ysize}, value, {extent.width, extent.height, extent.depth}, stream));
}
cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent) { return cudaMemset3DAsync(p, value, extent, 0); }

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p)
{
    return result(and_wait([=] { return copy_3d(p, 0); }));
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream) { return result(copy_3d(p, stream)); }
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *p)
{
    return result(and_wait([=] { return copy_3d(p, 0); }));
}
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *p, cudaStream_t stream) { return result(copy_3d(p, stream)); }
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t nbytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    char *part = flat_part(to, x, y, nbytes);
    return result(part ? copy(part, from, nbytes, kind, stream) : cudaErrorInvalidValue);
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t nbytes, cudaMemcpyKind kind)
{
    return result(and_wait([=] { return cudaMemcpyToArrayAsync(to, x, y, from, nbytes, kind, 0); }));
}
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t nbytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    char *part = flat_part(from, x, y, nbytes);
    return result(part ? copy(to, part, nbytes, kind, stream) : cudaErrorInvalidValue);
}
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t nbytes, cudaMemcpyKind kind)
{
    return result(and_wait([=] { return cudaMemcpyFromArrayAsync(to, from, x, y, nbytes, kind, 0); }));
}
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x, size_t from_y, size_t nbytes,
                                   cudaMemcpyKind kind)
{
    char *part = flat_part(to, to_x, to_y, nbytes);
    const char *its = flat_part(from, from_x, from_y, nbytes);
    return result(and_wait([=] { return part && its ? copy(part, its, nbytes, kind, 0) : cudaErrorInvalidValue; }));
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream)
{
    return result(copy_to_array(to, x, y, {(char *)from, pitch, 0}, {width, height, 1}, kind, stream));
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind)
{
    return result(and_wait([=] { return copy_to_array(to, x, y, {(char *)from, pitch, 0}, {width, height, 1}, kind, 0); }));
}
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream)
{
    return result(copy_from_array({(char *)to, pitch, 0}, from, x, y, {width, height, 1}, kind, stream));
}
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                                  cudaMemcpyKind kind)
{
    return result(and_wait([=] { return copy_from_array({(char *)to, pitch, 0}, from, x, y, {width, height, 1}, kind, 0); }));
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x, size_t from_y, size_t width,
                                     size_t height, cudaMemcpyKind kind)
{
    const Box box = {width, height, 1};
    if (!from || !from->holds(from_x, from_y, 0, box))
        return result(cudaErrorInvalidValue);
    return result(copy_to_array(to, to_x, to_y, from->side(from_x, from_y, 0), box, kind, 0));
}
}
