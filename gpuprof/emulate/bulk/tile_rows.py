"""The rows of tensor tiles from global to shared memory, compiled by Numba. Imported when first needed."""

from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import OPTIONS

UNIT = 16  # bytes that swizzling keeps together


@cached_njit(**OPTIONS)
def load(memory, starts, inside, before, nbytes, width, fill, shared, first, offset, units):  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    """Writes the rows of a tile to shared memory, one after the other.

    memory, shared: uint8. starts: int64 (rows,), places in `memory` of each row's first byte inside of the tensor, for
    the rows of `inside`, bool (rows,). A row has `width` bytes, of which `before` are before the tensor and `nbytes`
    inside; the others get `fill`, uint8 (an element's,). The tile begins `offset` bytes from `first` in `shared`, where
    the 16-byte units of a 128-byte line are exchanged by `units` (see tensormap.swizzled).
    """
    for row in range(len(starts)):
        low = before if inside[row] else width
        high = before + nbytes if inside[row] else width
        for unit in range(0, width, UNIT):
            to = offset + row * width + unit
            to = first + (to ^ (to >> 7 & units) << 4)
            count = min(UNIT, width - unit)
            if low <= unit and unit + UNIT <= high:
                source = starts[row] + unit - before
                for k in range(UNIT):
                    shared[to + k] = memory[source + k]
                continue
            for k in range(count):
                at = unit + k
                shared[to + k] = memory[starts[row] + at - before] if low <= at < high else fill[at % len(fill)]
