// Objects of textures and surfaces: handles that kernels take as numbers of 64 bits.
#include "arrays.h"
#include "arena.h"

using namespace gpuprof;

namespace {

// The description of an image: the words of its call, and an address and three extents for each level.
struct Image {
    unsigned long long geometry, bits, kind, channels, layers, n_levels, levels[32][5];
};
constexpr size_t pitch_alignment = 32; // cudaDeviceProp.texturePitchAlignment
enum Geometry { line, plane, volume, lines, planes, cube, cubes }; // as Python's device.images has them, in order

unsigned long long n_channels(const cudaChannelFormatDesc &form) { return form.w ? 4 : form.y ? 2 : 1; }

void describe(Image *image, const cudaChannelFormatDesc &form, Geometry geometry, size_t layers)
{
    image->geometry = geometry;
    image->bits = (unsigned long long)form.x;
    image->kind = form.f;
    image->channels = n_channels(form);
    image->layers = layers;
}

void add_level(Image *image, const void *memory, size_t width, size_t height, size_t depth, size_t row_nbytes)
{
    const unsigned long long level[] = {(unsigned long long)memory, width, height, depth, row_nbytes};
    memcpy(image->levels[image->n_levels++], level, sizeof level);
}

Geometry geometry_of(const cudaArray &array)
{
    if (array.flags & cudaArrayCubemap)
        return array.flags & cudaArrayLayered ? cubes : cube;
    if (array.flags & cudaArrayLayered)
        return array.extent.height ? planes : lines;
    return array.extent.depth ? volume : array.extent.height ? plane : line;
}

void add_array(Image *image, const cudaArray &array)
{
    const Geometry geometry = geometry_of(array);
    const bool is_layered = geometry > volume;
    if (!image->n_levels)
        describe(image, array.form, geometry, is_layered ? array.depth() : 1);
    add_level(image, array.memory, array.width(), array.height(), is_layered ? 1 : array.depth(), array.row_nbytes());
}

bool fill_in(Image *image, const cudaResourceDesc &from)
{
    switch (from.resType) {
    case cudaResourceTypeArray:
        if (from.res.array.array)
            add_array(image, *from.res.array.array);
        return from.res.array.array;
    case cudaResourceTypeMipmappedArray:
        if (from.res.mipmap.mipmap)
            for (const cudaArray *level : from.res.mipmap.mipmap->levels)
                add_array(image, *level);
        return from.res.mipmap.mipmap;
    case cudaResourceTypeLinear: {
        const auto &linear = from.res.linear;
        const size_t texel = (size_t)(linear.desc.x + linear.desc.y + linear.desc.z + linear.desc.w) / 8;
        if (!is_device(linear.devPtr) || !texel || linear.sizeInBytes < texel)
            return false;
        describe(image, linear.desc, line, 1);
        add_level(image, linear.devPtr, linear.sizeInBytes / texel, 1, 1, linear.sizeInBytes / texel * texel);
        return true;
    }
    case cudaResourceTypePitch2D: {
        const auto &rows = from.res.pitch2D;
        if (!is_device(rows.devPtr) || !rows.width || !rows.height || rows.pitchInBytes % pitch_alignment)
            return false;
        describe(image, rows.desc, plane, 1);
        add_level(image, rows.devPtr, rows.width, rows.height, 1, rows.pitchInBytes);
        return true;
    }
    }
    return false;
}

// Objects know what they were made of.
struct Made {
    unsigned long long handle;
    cudaResourceDesc resource;
    cudaTextureDesc how;
    cudaResourceViewDesc view;
    bool has_view, is_surface;
};
List<Made> all;

void remember(const Made &one)
{
    Turn turn;
    all.add(one);
}

const Made *made_with(unsigned long long handle)
{
    for (const Made &each : all)
        if (each.handle == handle)
            return &each;
    return nullptr;
}

void forget(unsigned long long handle)
{
    Turn turn;
    if (const Made *one = made_with(handle))
        all.drop(one - all.items);
}

cudaError_t make(unsigned long long *handle, const cudaResourceDesc *resource, const cudaTextureDesc &how, const cudaResourceViewDesc *view,
                 bool is_surface)
{
    Image image = {};
    if (!handle || !resource || !fill_in(&image, *resource))
        return cudaErrorInvalidValue;
    for (float channel : how.borderColor)
        if (channel != 0)
            return not_supported("a texture with a border color");
    const Reply reply = ask_with(Payload{image.levels, image.n_levels * sizeof *image.levels}, nullptr, Call::make_image, image.geometry, image.bits,
                                 image.kind, image.channels, image.layers, (int)is_surface, how.addressMode[0], how.addressMode[1],
                                 how.addressMode[2], how.filterMode, how.mipmapFilterMode, how.readMode, how.normalizedCoords, how.sRGB);
    *handle = reply.words[make_image_gives::handle];
    if (!reply.status)
        remember({*handle, *resource, how, view ? *view : cudaResourceViewDesc{}, view != nullptr, is_surface});
    return reply.status;
}

// The formats of views that read a texel as what it is, by its form: of 8, 16 and 32 bits, with 1, 2 and 4 channels.
cudaResourceViewFormat format_of(const cudaChannelFormatDesc &form)
{
    static const cudaResourceViewFormat first[][3] = {
        {cudaResViewFormatSignedChar1, cudaResViewFormatSignedShort1, cudaResViewFormatSignedInt1},
        {cudaResViewFormatUnsignedChar1, cudaResViewFormatUnsignedShort1, cudaResViewFormatUnsignedInt1},
        {cudaResViewFormatNone, cudaResViewFormatHalf1, cudaResViewFormatFloat1},
    };
    const unsigned long long n = n_channels(form);
    return (cudaResourceViewFormat)(first[form.f][form.x / 16] + (n == 4 ? 2 : n - 1));
}

// Whether a view shows all of a resource, as it is.
bool is_whole(const cudaResourceViewDesc &view, const cudaResourceDesc &resource)
{
    if (resource.resType != cudaResourceTypeArray && resource.resType != cudaResourceTypeMipmappedArray)
        return false;
    const bool has_levels = resource.resType == cudaResourceTypeMipmappedArray;
    const cudaMipmappedArray *levels = has_levels ? resource.res.mipmap.mipmap : nullptr;
    const cudaArray *array = has_levels ? levels ? levels->levels[0] : nullptr : resource.res.array.array;
    if (!array)
        return false;
    const unsigned last_level = levels ? (unsigned)levels->levels.n - 1 : 0;
    const unsigned last_layer = array->flags & cudaArrayLayered ? (unsigned)array->depth() - 1 : 0;
    const bool is_size = view.width == array->extent.width && view.height == array->extent.height && view.depth == array->extent.depth;
    return is_size && view.format == format_of(array->form) && !view.firstMipmapLevel && view.lastMipmapLevel == last_level && !view.firstLayer &&
           view.lastLayer == last_layer;
}

cudaError_t make_texture(unsigned long long *handle, const cudaResourceDesc *resource, const cudaTextureDesc *how, const cudaResourceViewDesc *view)
{
    if (!resource || !how)
        return cudaErrorInvalidValue;
    if (view && resource->resType != cudaResourceTypeArray && resource->resType != cudaResourceTypeMipmappedArray)
        return cudaErrorInvalidValue;
    if (view && !is_whole(*view, *resource))
        return not_supported("a view that shows a part of an array, or its texels as others");
    return make(handle, resource, *how, view, false);
}

template <typename T> cudaError_t give(T *to, unsigned long long handle, bool is_surface, T Made::*field)
{
    Turn turn;
    const Made *one = made_with(handle);
    if (!to || !one || one->is_surface != is_surface)
        return cudaErrorInvalidValue;
    *to = one->*field;
    return cudaSuccess;
}

} // namespace

extern "C" {
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const cudaResourceDesc *resource, const cudaTextureDesc *how,
                                    const cudaResourceViewDesc *view)
{
    return result(make_texture(texture, resource, how, view));
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture)
{
    forget(texture);
    return result(cudaSuccess);
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const cudaResourceDesc *resource)
{
    return result(make(surface, resource, {}, nullptr, true));
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface)
{
    forget(surface);
    return result(cudaSuccess);
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *resource, cudaTextureObject_t texture)
{
    return result(give(resource, texture, false, &Made::resource));
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *how, cudaTextureObject_t texture)
{
    return result(give(how, texture, false, &Made::how));
}
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc *view, cudaTextureObject_t texture)
{
    Turn turn;
    const Made *one = made_with(texture);
    return result(one && !one->has_view ? cudaErrorInvalidValue : give(view, texture, false, &Made::view));
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *resource, cudaSurfaceObject_t surface)
{
    return result(give(resource, surface, true, &Made::resource));
}
}
