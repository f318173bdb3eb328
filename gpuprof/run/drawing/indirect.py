"""Draws whose numbers of vertices and instances lie in device memory, where a kernel may have written them."""

from dataclasses import replace

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.graphics_state.draw_state import INDIRECT, INDIRECT_INDEXED
from gpuprof.device.memory import AddressSpace
from gpuprof.errors import DeviceMemoryError, UsageError
from gpuprof.graphics.draw_checks import check_buffers

NUMBER_NBYTES = 4
SIGNED = "base_vertex"


def direct(draw: cmd.Draw, memory: AddressSpace) -> cmd.Draw:
    """The draw with the numbers that its record has now. Raises DeviceMemoryError for a record that is not in memory,
    UsageError for one that asks for more than the buffers have, or than a draw may; all name the draw.
    """
    buffers = draw.buffers
    if not buffers.indirect:
        return draw
    numbers = _record(draw, memory)
    first, count = numbers["first"], numbers["count"]
    if buffers.indices:
        what, there, size = "indices", buffers.n_indices, buffers.index_nbytes
        direct_buffers = replace(buffers, indices=buffers.indices + first * size, base_vertex=numbers["base_vertex"])
    else:
        what, there = "vertices", buffers.n_vertices
        direct_buffers = replace(buffers, base_vertex=first)
    if first + count > there:
        raise UsageError(f"{draw.name}: its record draws {count} {what} from number {first} on, and there are {there}")
    instances = numbers["instances"], numbers["first_instance"]
    direct_buffers = replace(direct_buffers, n_indices=count, instances=instances[0], first_instance=instances[1])
    try:
        check_buffers(direct_buffers)
    except UsageError as error:
        raise UsageError(f"{draw.name}: its record: {error}") from None
    return replace(draw, buffers=direct_buffers)


def record_nbytes(has_indices: bool) -> int:
    return NUMBER_NBYTES * len(INDIRECT_INDEXED if has_indices else INDIRECT)


def _record(draw: cmd.Draw, memory: AddressSpace) -> dict[str, int]:
    names = INDIRECT_INDEXED if draw.buffers.indices else INDIRECT
    try:
        data = memory.read(draw.buffers.indirect, NUMBER_NBYTES * len(names))
    except DeviceMemoryError as error:
        raise DeviceMemoryError(f"{draw.name}: its record is not in memory: {error}") from None
    numbers = dict(zip(names, np.frombuffer(data, "<u4").tolist(), strict=True))
    if SIGNED in numbers:
        numbers[SIGNED] = int(np.int32(np.uint32(numbers[SIGNED])))
    return numbers
