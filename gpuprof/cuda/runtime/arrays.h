// CUDA arrays: memory of the device whose rows follow each other, with a texel's form and extents.
#pragma once

#include "copies.h"
#include "list.h"
#include "texture_runtime.h"

struct cudaArray {
    char *memory;
    cudaChannelFormatDesc form;
    cudaExtent extent; // as the program gave it: 0 for a dimension that there is not
    unsigned flags;
    bool is_level; // of a mipmapped array, which owns the memory

    size_t texel_nbytes() const { return (size_t)(form.x + form.y + form.z + form.w) / 8; }
    size_t width() const { return extent.width; }
    size_t height() const { return extent.height ? extent.height : 1; }
    size_t depth() const { return extent.depth ? extent.depth : 1; } // layers and faces among them
    size_t row_nbytes() const { return width() * texel_nbytes(); }
    gpuprof::Side side(size_t x_nbytes, size_t y, size_t z) const
    {
        const size_t row = row_nbytes(), slice = row * height();
        return {memory + z * slice + y * row + x_nbytes, row, slice};
    }
    bool holds(size_t x_nbytes, size_t y, size_t z, const gpuprof::Box &box) const
    {
        return x_nbytes + box.nbytes <= row_nbytes() && y + box.rows <= height() && z + box.slices <= depth();
    }
};

namespace gpuprof {

// One side of a copy: an array, or pitched memory. Positions in an array are counted in its texels, else in bytes.
struct End {
    const cudaArray *array;
    cudaPos at;
    cudaPitchedPtr memory;

    bool holds(const Box &box) const { return !array || array->holds(at.x * array->texel_nbytes(), at.y, at.z, box); }
    Side side() const
    {
        if (array)
            return array->side(at.x * array->texel_nbytes(), at.y, at.z);
        const size_t slice = memory.pitch * memory.ysize;
        return {(char *)memory.ptr + at.z * slice + at.y * memory.pitch + at.x, memory.pitch, slice};
    }
};

bool box_of(const End &to, const End &from, cudaExtent extent, Box *box); // false: it is no copy
cudaError_t copy_3d(const End &to, const End &from, cudaExtent extent, cudaMemcpyKind kind, cudaStream_t stream);

} // namespace gpuprof

struct cudaMipmappedArray {
    gpuprof::List<cudaArray *> levels;
};
