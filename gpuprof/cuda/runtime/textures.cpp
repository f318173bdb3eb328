// Objects of textures and surfaces: handles that kernels take as numbers of 64 bits.
#include "arrays.h"
#include "arena.h"

using namespace gpuprof;

namespace {

// The description of an image: the words of its call, and an address and three extents for each level.
struct Image {
    unsigned long long geometry, bits, kind, channels, layers, n_levels, levels[32][5];
};
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
        if (!is_device(rows.devPtr) || !rows.width || !rows.height)
            return false;
        describe(image, rows.desc, plane, 1);
        add_level(image, rows.devPtr, rows.width, rows.height, 1, rows.pitchInBytes);
        return true;
    }
    }
    return false;
}

cudaError_t make(unsigned long long *handle, const cudaResourceDesc *resource, const cudaTextureDesc &how, bool is_surface)
{
    Image image = {};
    if (!handle || !resource || !fill_in(&image, *resource))
        return cudaErrorInvalidValue;
    for (float channel : how.borderColor)
        if (channel != 0)
            return cudaErrorNotSupported;
    const Reply reply = ask_with(Payload{image.levels, image.n_levels * sizeof *image.levels}, nullptr, Call::make_image, image.geometry, image.bits,
                                 image.kind, image.channels, image.layers, (int)is_surface, how.addressMode[0], how.addressMode[1],
                                 how.addressMode[2], how.filterMode, how.mipmapFilterMode, how.readMode, how.normalizedCoords, how.sRGB);
    *handle = reply.words[make_image_gives::handle];
    return reply.status;
}

} // namespace

extern "C" {
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const cudaResourceDesc *resource, const cudaTextureDesc *how,
                                    const cudaResourceViewDesc *view)
{
    if (view)
        return result(cudaErrorNotSupported);
    return result(how ? make(texture, resource, *how, false) : cudaErrorInvalidValue);
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t) { return result(cudaSuccess); }
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const cudaResourceDesc *resource)
{
    return result(make(surface, resource, {}, true));
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t) { return result(cudaSuccess); }
}
