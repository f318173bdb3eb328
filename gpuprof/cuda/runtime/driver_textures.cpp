// Objects of textures and surfaces. Their descriptions are kept, for the program to read again.
#include "driver_arrays.h"
#include "list.h"

using namespace gpuprof;

namespace {

struct Object {
    unsigned long long handle;
    bool is_surface;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC how;
};
List<Object> all;

const Object *find(unsigned long long handle, bool is_surface)
{
    for (const Object &each : all)
        if (each.handle == handle && each.is_surface == is_surface)
            return &each;
    return nullptr;
}

bool read(const CUDA_RESOURCE_DESC &from, cudaResourceDesc *to)
{
    const auto &linear = from.res.linear;
    const auto &rows = from.res.pitch2D;
    *to = {};
    to->resType = (cudaResourceType)from.resType;
    switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY: to->res.array.array = from.res.array.hArray; return true;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: to->res.mipmap.mipmap = from.res.mipmap.hMipmappedArray; return true;
    case CU_RESOURCE_TYPE_LINEAR:
        to->res.linear.devPtr = pointer(linear.devPtr);
        to->res.linear.sizeInBytes = linear.sizeInBytes;
        return channels_of(linear.format, linear.numChannels, &to->res.linear.desc);
    case CU_RESOURCE_TYPE_PITCH2D:
        to->res.pitch2D.devPtr = pointer(rows.devPtr);
        to->res.pitch2D.width = rows.width;
        to->res.pitch2D.height = rows.height;
        to->res.pitch2D.pitchInBytes = rows.pitchInBytes;
        return channels_of(rows.format, rows.numChannels, &to->res.pitch2D.desc);
    }
    return false;
}

// Integers of up to 16 bits are read as numbers from 0 (or -1) to 1, unless it says otherwise.
bool is_normalized(const cudaChannelFormatDesc &form, unsigned flags)
{
    return form.f != cudaChannelFormatKindFloat && form.x <= 16 && !(flags & CU_TRSF_READ_AS_INTEGER);
}

cudaChannelFormatDesc form_of(const cudaResourceDesc &resource)
{
    cudaChannelFormatDesc form = {};
    cudaArray_t level = nullptr;
    switch (resource.resType) {
    case cudaResourceTypeArray: cudaGetChannelDesc(&form, resource.res.array.array); break;
    case cudaResourceTypeMipmappedArray:
        cudaGetMipmappedArrayLevel(&level, resource.res.mipmap.mipmap, 0);
        cudaGetChannelDesc(&form, level);
        break;
    case cudaResourceTypeLinear: form = resource.res.linear.desc; break;
    case cudaResourceTypePitch2D: form = resource.res.pitch2D.desc; break;
    }
    return form;
}

cudaTextureDesc read(const CUDA_TEXTURE_DESC &from, const cudaResourceDesc &resource)
{
    cudaTextureDesc to = {};
    for (int i = 0; i < 3; ++i)
        to.addressMode[i] = (cudaTextureAddressMode)from.addressMode[i];
    for (int i = 0; i < 4; ++i)
        to.borderColor[i] = from.borderColor[i];
    to.filterMode = (cudaTextureFilterMode)from.filterMode;
    to.mipmapFilterMode = (cudaTextureFilterMode)from.mipmapFilterMode;
    to.readMode = is_normalized(form_of(resource), from.flags) ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    to.normalizedCoords = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    to.sRGB = (from.flags & CU_TRSF_SRGB) != 0;
    to.maxAnisotropy = from.maxAnisotropy;
    to.mipmapLevelBias = from.mipmapLevelBias;
    to.minMipmapLevelClamp = from.minMipmapLevelClamp;
    to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
    to.disableTrilinearOptimization = (from.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
    to.seamlessCubemap = (from.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
    return to;
}

CUresult make_texture(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how, const CUDA_RESOURCE_VIEW_DESC *view)
{
    cudaResourceDesc what;
    if (!texture || !resource || !how || !read(*resource, &what))
        return CUDA_ERROR_INVALID_VALUE;
    if (view)
        return CUDA_ERROR_NOT_SUPPORTED;
    const cudaTextureDesc described = read(*how, what);
    const CUresult error = as(cudaCreateTextureObject(texture, &what, &described, nullptr));
    if (!error)
        all.add({*texture, false, *resource, *how});
    return error;
}

CUresult make_surface(CUsurfObject *surface, const CUDA_RESOURCE_DESC *resource)
{
    cudaResourceDesc what;
    if (!surface || !resource || resource->resType != CU_RESOURCE_TYPE_ARRAY || !read(*resource, &what))
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult error = as(cudaCreateSurfaceObject(surface, &what));
    if (!error)
        all.add({*surface, true, *resource, {}});
    return error;
}

CUresult destroy(unsigned long long handle, bool is_surface)
{
    for (size_t i = 0; i < all.n; ++i)
        if (all[i].handle == handle && all[i].is_surface == is_surface) {
            all.drop(i);
            return as(is_surface ? cudaDestroySurfaceObject(handle) : cudaDestroyTextureObject(handle));
        }
    return CUDA_ERROR_INVALID_VALUE;
}

// A part of what an object was made of.
template <typename T> CUresult give(T *to, unsigned long long handle, bool is_surface, T Object::*part)
{
    Turn turn;
    const Object *found = find(handle, is_surface);
    if (to && found)
        *to = found->*part;
    return result_of(to && found);
}

} // namespace

extern "C" {
CUresult cuTexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how,
                           const CUDA_RESOURCE_VIEW_DESC *view)
{
    return driver_call([=] {
        Turn turn;
        return make_texture(texture, resource, how, view);
    });
}
CUresult cuTexObjectDestroy(CUtexObject texture)
{
    return driver_call([=] {
        Turn turn;
        return destroy(texture, false);
    });
}
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject texture)
{
    return driver_call([=] { return give(resource, texture, false, &Object::resource); });
}
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *how, CUtexObject texture)
{
    return driver_call([=] { return give(how, texture, false, &Object::how); });
}
CUresult cuSurfObjectCreate(CUsurfObject *surface, const CUDA_RESOURCE_DESC *resource)
{
    return driver_call([=] {
        Turn turn;
        return make_surface(surface, resource);
    });
}
CUresult cuSurfObjectDestroy(CUsurfObject surface)
{
    return driver_call([=] {
        Turn turn;
        return destroy(surface, true);
    });
}
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject surface)
{
    return driver_call([=] { return give(resource, surface, true, &Object::resource); });
}
}
