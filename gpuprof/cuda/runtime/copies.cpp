// Copies between host and device, and fills.
#include "copies.h"
#include "arena.h"
#include "graphs.h"
#include "registered.h"

#include <string.h>

namespace gpuprof {
namespace {

thread_local int n_synchronous = 0;  // Synchronous
thread_local int n_together = 0; // Together

// Copies or fills, one for each of n rows, that are one call of the program's and one of the GPU's engines.
class Together {
public:
    explicit Together(size_t n)
    {
        if (++n_together == 1)
            ask(Call::begin_rows, n);
    }
    ~Together()
    {
        if (--n_together == 0)
            ask(Call::end_rows);
    }

private:
    OneCall whole;
};

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

cudaError_t check_copy(const void *to, const void *from, size_t to_nbytes, size_t from_nbytes, cudaMemcpyKind kind)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (!to || !from)
        return cudaErrorInvalidValue;
    const bool into = is_device(to), out_of = is_device(from);
    if (!is_direction(into, out_of, kind))
        return cudaErrorInvalidValue;
    if ((into && !fits(to, to_nbytes)) || (out_of && !fits(from, from_nbytes)))
        return cudaErrorInvalidValue; // such a size was negative
    return cudaSuccess;
}

// From the first byte of a box to its last.
size_t reach(const Side &side, const Box &box) { return (box.slices - 1) * side.slice + (box.rows - 1) * side.row + box.nbytes; }

// Where the GPU has these bytes; null where only the host has them.
void *on_bus(const void *p, size_t nbytes) { return is_device(p) ? (void *)p : device_address(p, nbytes); }

bool is_locked(const void *p)
{
    const void *start;
    return device_address(p) || (kind_of(p, &start) == pinned_memory && start);
}

// Of copies that the GPU makes; all others that are waited for wait by themselves.
bool is_waited_for(const void *to, const void *from) { return n_synchronous && on_bus(to, 1) && on_bus(from, 1) && is_locked(to) != is_locked(from); }

cudaError_t wait_for(cudaStream_t stream) { return ask(Call::synchronize, Waits::stream, number(stream)).status; }

constexpr size_t least_staged = 1 << 16; // below, the socket is as quick

cudaError_t copy_piece(char *to, const char *from, size_t nbytes, bool into, cudaStream_t stream)
{
    Turn turn;
    if (into) {
        memcpy(staging(), from, nbytes);
        return ask(Call::staged_in, to, nbytes, number(stream), n_synchronous > 0).status;
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
    Together pieces((nbytes + staging_nbytes - 1) / staging_nbytes);
    cudaError_t status = cudaSuccess;
    for (size_t done = 0; done < nbytes && !status; done += staging_nbytes) {
        const size_t left = nbytes - done;
        status = copy_piece(to + done, from + done, left < staging_nbytes ? left : staging_nbytes, into, stream);
    }
    return status;
}

} // namespace

Synchronous::Synchronous() { ++n_synchronous; }
Synchronous::~Synchronous() { --n_synchronous; }

cudaError_t copy(void *to, const void *from, size_t nbytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (!nbytes && (unsigned)kind <= cudaMemcpyDefault)
        return cudaSuccess;
    if (const cudaError_t status = check_copy(to, from, nbytes, nbytes, kind))
        return status;
    Graph *graph;
    const cudaError_t status = enter(stream, &graph);
    if (status || graph)
        return status ? status : add_copy(graph, stream, to, from, nbytes, kind);
    const bool into = is_device(to), out_of = is_device(from);
    const void *its_to = on_bus(to, nbytes), *its_from = on_bus(from, nbytes);
    if (its_to && its_from && (n_together || !is_waited_for(to, from)))
        return ask(Call::copy_within, its_to, its_from, nbytes, number(stream)).status;
    if (its_to && its_from) {
        OneCall whole;
        const cudaError_t status = ask(Call::copy_within, its_to, its_from, nbytes, number(stream)).status;
        return status ? status : wait_for(stream);
    }
    if ((into || out_of) && nbytes >= least_staged)
        return copy_staged((char *)to, (const char *)from, nbytes, into, stream);
    if (into)
        return ask_with(Payload{from, nbytes}, nullptr, Call::copy_in, to, number(stream), n_synchronous > 0).status;
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

namespace {
cudaError_t copy_rows(const Side &to, const Side &from, const Box &box, cudaMemcpyKind kind, cudaStream_t stream)
{
    Together rows(box.rows * box.slices);
    cudaError_t status = cudaSuccess;
    for (size_t slice = 0; slice < box.slices; ++slice)
        for (size_t row = 0; row < box.rows && !status; ++row)
            status = copy(to.base + slice * to.slice + row * to.row, from.base + slice * from.slice + row * from.row, box.nbytes, kind, stream);
    return status;
}
} // namespace

cudaError_t copy_box(Side to, Side from, Box box, cudaMemcpyKind kind, cudaStream_t stream)
{
    if (!box.nbytes || !box.rows || !box.slices)
        return cudaSuccess;
    if (overlaps(to, box) || overlaps(from, box))
        return cudaErrorInvalidPitchValue;
    if (lies_together(to, box) && lies_together(from, box))
        return copy(to.base, from.base, box.nbytes * box.rows * box.slices, kind, stream);
    if (const cudaError_t status = check_copy(to.base, from.base, reach(to, box), reach(from, box), kind))
        return status;
    Graph *graph;
    cudaError_t status = enter(stream, &graph);
    if (status || graph)
        return status ? status : add_copy_box(graph, stream, to, from, box, kind);
    OneCall whole;
    status = copy_rows(to, from, box, kind, stream);
    return status || !is_waited_for(to.base, from.base) ? status : wait_for(stream);
}

cudaError_t fill_box(Side to, int value, Box box, cudaStream_t stream)
{
    if (!box.nbytes || !box.rows || !box.slices)
        return cudaSuccess;
    if (overlaps(to, box))
        return cudaErrorInvalidPitchValue;
    if (lies_together(to, box))
        return fill(to.base, value, box.nbytes * box.rows * box.slices, stream);
    if (!fits(to.base, reach(to, box)))
        return cudaErrorInvalidValue;
    Graph *graph;
    cudaError_t status = enter(stream, &graph);
    if (status || graph)
        return status ? status : add_fill_words(graph, stream, to, box, (unsigned char)value, 1);
    Together rows(box.rows * box.slices);
    for (size_t slice = 0; slice < box.slices; ++slice)
        for (size_t row = 0; row < box.rows && !status; ++row)
            status = fill(to.base + slice * to.slice + row * to.row, value, box.nbytes, stream);
    return status;
}

} // namespace gpuprof
