"""Grids that a kernel launches: its requests, lane by lane. They run when it has ended; see `run/launching/nested`.

After the CUDA programming guide's dynamic parallelism (CDP2): a kernel gets a parameter buffer, writes the parameters
there, and launches it. What a GPU would refuse, or may refuse because too much is pending, ends the program here by
name.
"""

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

from gpuprof.device.launching.config import LaunchConfig, checked
from gpuprof.emulate.core.faults import fault_of_element
from gpuprof.emulate.core.lanes import WARP, Lanes
from gpuprof.errors import DeviceMemoryError, UsageError
from gpuprof.isa.program import Function

# cuda_device_runtime_api.h; the first is the block's own default stream
BLOCK_STREAM, TAIL_LAUNCH, FIRE_AND_FORGET = 0, 3, 4
FIRST_STREAM = 16  # handles of streams that kernels make
MOST_PENDING = 2048  # cudaLimitDevRuntimePendingLaunchCount, as it is unless a program asks for more
REQUEST = struct.Struct("<Q7I")  # kernel, grid, block, shared bytes


class GridRequest(NamedTuple):
    """`warp` of the grid launched it, when it had executed `turn` instructions."""

    function: Function
    config: LaunchConfig  # on stream 0: which stream it is of the launching block's, `stream` says
    params: bytes
    stream: int
    launcher_block: int
    warp: int
    turn: int


class Buffer(NamedTuple):
    function: Function
    config: LaunchConfig

    @property
    def nbytes(self) -> int:
        """Bytes of the kernel's parameters."""
        return max((param.offset + param.nbytes for param in self.function.params), default=0)


@dataclass
class Launched:
    """The grids that a grid has launched, in order, and the parameter buffers (by address) that it has not launched
    yet.
    """

    grids: list[GridRequest] = field(default_factory=list)
    buffers: dict[int, Buffer | None] = field(default_factory=dict)
    n_streams: int = 0


def parameter_buffer(lanes: Lanes, at: int, element: int, raw: bytes) -> int:
    """The address of room for a kernel's parameters; null when there is none. `raw` is a REQUEST."""
    buffer = _described(lanes, at, element, raw)
    return parameter_room(lanes, buffer.nbytes, buffer)


def parameter_room(lanes: Lanes, nbytes: int, buffer: Buffer | None = None) -> int:
    """The address of `nbytes` of room for parameters; null when there is none. `buffer` is None for a kernel that is
    named later.
    """
    space = lanes.chunk.spaces["global"]
    try:
        address = space.memory.allocate(max(nbytes, 1), "the parameters of a launch").address
    except DeviceMemoryError:
        return 0
    space.refresh()
    lanes.chunk.tally.counters.launched.buffers[address] = buffer
    return address


def describe_launch(lanes: Lanes, at: int, element: int, raw: bytes, address: int) -> None:
    """Says what the parameters at `address` are for."""
    lanes.chunk.tally.counters.launched.buffers[address] = _described(lanes, at, element, raw)


def _described(lanes: Lanes, at: int, element: int, raw: bytes) -> Buffer:
    address, *numbers = REQUEST.unpack(raw)
    module = lanes.chunk.launch.module
    kernels = {module.address_of(function): function for function in module.program.functions if function.is_kernel}
    if address not in kernels:
        raise fault_of_element(
            lanes, at, element, f"it launches what is at 0x{address:x}, which is no kernel of its module"
        )
    return Buffer(kernels[address], LaunchConfig(tuple(numbers[:3]), tuple(numbers[3:6]), numbers[6]))


def launch_device(lanes: Lanes, at: int, element: int, address: int, stream: int) -> int:
    """Takes over a buffer's parameters and notes the launch. Gives cudaSuccess."""
    launched, chunk = lanes.chunk.tally.counters.launched, lanes.chunk
    buffer = launched.buffers.pop(address, None)
    if buffer is None:
        raise fault_of_element(
            lanes, at, element, f"it launches 0x{address:x}, which is no parameter buffer, or was launched before"
        )
    if not (
        stream in (BLOCK_STREAM, TAIL_LAUNCH, FIRE_AND_FORGET)
        or FIRST_STREAM <= stream < FIRST_STREAM + launched.n_streams
    ):
        raise fault_of_element(
            lanes, at, element, f"it launches {buffer.function.display} on stream 0x{stream:x}, which it has not made"
        )
    if len(launched.grids) == MOST_PENDING:
        text = (
            f"it launches more than {MOST_PENDING} grids, of which a GPU may refuse any "
            "(cudaLimitDevRuntimePendingLaunchCount)"
        )
        raise fault_of_element(lanes, at, element, text)
    try:
        checked(buffer.function, buffer.config, chunk.chip)
    except UsageError as error:
        raise fault_of_element(lanes, at, element, f"it launches {error}") from None
    space = chunk.spaces["global"]
    params = space.memory.read(address, buffer.nbytes) if buffer.nbytes else b""
    space.memory.free(address)
    space.refresh()
    warp = int(lanes.warps[element // WARP])
    number = chunk.first_block * chunk.warps_per_block + warp
    block, turn = number // chunk.warps_per_block, int(chunk.executed[warp])
    launched.grids.append(GridRequest(*buffer, params, stream, block, number, turn))
    return 0


def new_stream(lanes: Lanes) -> int:
    launched = lanes.chunk.tally.counters.launched
    launched.n_streams += 1
    return FIRST_STREAM + launched.n_streams - 1
