// Copies between host and device, and fills.
#include "copies.h"
#include "arena.h"
#include "graphs.h"

#include <string.h>

namespace gpuprof {
namespace {

bool lies_together(const Side &side, const Box &box)
{
    return (box.rows == 1 || side.row == box.nbytes) && (box.slices == 1 || side.slice == box.rows * box.nbytes);
}

bool overlaps(const Side &side, const Box &box) { return (box.rows > 1 && box.nbytes > side.row) || (box.slices > 1 && box.nbytes > side.slice); }

// Whether the directions that the program states are those of the addresses.
bool is_direction(bool into, bool out_of, cudaMemcpyKind kind)
{
    if (!into && (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice))
        return false;
    return out_of || !(kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice);
}

constexpr size_t least_staged = 1 << 16; // below, the socket is as quick

cudaError_t copy_piece(char *to, const char *from, size_t nbytes, bool into, cudaStream_t stream)
{
    Turn turn;
    if (into) {
        memcpy(staging(), from, nbytes);
        return ask(Call::staged_in, to, nbytes, number(stream)).status;
    }
    const cudaError_t status = ask(Call::staged_out, from, nbytes, number(stream)).status;
    if (!status)
        memcpy(to, staging(), nbytes);
    return status;
}

cudaError_t copy_staged(char *to, const char *from, size_t nbytes, bool into, cudaStream_t stream)
{
    if (nbytes <= staging_nbytes)
        return copy_piece(to, from, nbytes, into, stream);
    OneCall whole;
    cudaError_t status = cudaSuccess;
    for (size_t done = 0; done < nbytes && !status; done += staging_nbytes) {
        const size_t left = nbytes - done;
        status = copy_piece(to + done, from + done, left < staging_nbytes ? left : staging_nbytes, into, stream);
    }
    return status;
}

} // namespace

cudaError_t copy(void *to, const void *from, size_t nbytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (!nbytes)
        return cudaSuccess;
    if (!to || !from)
        return cudaErrorInvalidValue;
    const bool into = is_device(to), out_of = is_device(from);
    if (!is_direction(into, out_of, kind))
        return cudaErrorInvalidValue;
    if ((into && !fits(to, nbytes)) || (out_of && !fits(from, nbytes)))
        return cudaErrorInvalidValue; // such a size was negative
    Graph *graph;
    const cudaError_t status = enter(stream, &graph);
    if (status || graph)
        return status ? status : add_copy(graph, stream, to, from, nbytes, kind);
    if (into && out_of)
        return ask(Call::copy_within, to, from, nbytes, number(stream)).status;
    if ((into || out_of) && nbytes >= least_staged)
        return copy_staged((char *)to, (const char *)from, nbytes, into, stream);
    if (into)
        return ask_with(Payload{from, nbytes}, nullptr, Call::copy_in, to, number(stream)).status;
    if (out_of) {
        Room room = {to, nbytes};
        return ask_with(Payload{}, &room, Call::copy_out, from, nbytes, number(stream)).status;
    }
    memmove(to, from, nbytes);
    return cudaSuccess;
}

cudaError_t fill(void *p, int value, size_t nbytes, cudaStream_t stream)
{
    if (nbytes && !fits(p, nbytes))
        return cudaErrorInvalidValue;
    if (!nbytes)
        return cudaSuccess;
    Graph *graph;
    const cudaError_t status = enter(stream, &graph);
    if (status || graph)
        return status ? status : add_fill(graph, stream, p, value, nbytes);
    return ask(Call::fill, p, nbytes, (unsigned char)value, number(stream)).status;
}

cudaError_t copy_box(Side to, Side from, Box box, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (!box.nbytes || !box.rows || !box.slices)
        return cudaSuccess;
    if (overlaps(to, box) || overlaps(from, box))
        return cudaErrorInvalidPitchValue;
    if (lies_together(to, box) && lies_together(from, box))
        return copy(to.base, from.base, box.nbytes * box.rows * box.slices, kind, stream);
    OneCall whole;
    cudaError_t status = cudaSuccess;
    for (size_t slice = 0; slice < box.slices; ++slice)
        for (size_t row = 0; row < box.rows && !status; ++row)
            status = copy(to.base + slice * to.slice + row * to.row, from.base + slice * from.slice + row * from.row, box.nbytes, kind, stream);
    return status;
}

cudaError_t fill_box(Side to, int value, Box box, cudaStream_t stream)
{
    if (!box.nbytes || !box.rows || !box.slices)
        return cudaSuccess;
    if (overlaps(to, box))
        return cudaErrorInvalidPitchValue;
    if (lies_together(to, box))
        return fill(to.base, value, box.nbytes * box.rows * box.slices, stream);
    OneCall whole;
    cudaError_t status = cudaSuccess;
    for (size_t slice = 0; slice < box.slices; ++slice)
        for (size_t row = 0; row < box.rows && !status; ++row)
            status = fill(to.base + slice * to.slice + row * to.row, value, box.nbytes, stream);
    return status;
}

} // namespace gpuprof
