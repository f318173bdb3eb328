"""What a host does wrong with memory of the GPU, as checkers name it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuprof.device import commands as cmd
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import LoadedModule
from gpuprof.errors import DeviceMemoryError

COPIES = (cmd.CopyIn, cmd.CopyOut, cmd.CopyWithin, cmd.Fill)


class HostError(NamedTuple):
    kind: str
    text: str


def host_error(
    command: cmd.Command, error: DeviceMemoryError, memory: AddressSpace, place: str = ""
) -> Iterator[HostError]:
    """What the command did wrong; nothing where there was no room. `place`: where the host is."""
    text = f"{place}: {error}" if place else str(error)
    if getattr(command, "nbytes", 0) < 0:
        yield HostError("negative_size", text)
    elif isinstance(command, cmd.Free | cmd.FreeLater):
        yield HostError("double_free" if memory.was_freed(command.address) else "invalid_free", text)
    elif isinstance(command, COPIES):
        yield HostError("copy_out_of_bounds", text)


def leaks(memory: AddressSpace, modules: Sequence[LoadedModule]) -> Iterator[HostError]:
    """What is allocated, and belongs to no module."""
    variables = {address for module in modules for address in module.global_symbols.values()}
    for allocation in memory.allocations:
        if not any(allocation.address <= address < allocation.end for address in variables):
            yield HostError(
                "leak", f"{allocation.nbytes} bytes at {allocation.address:#x} are never freed: {allocation.name}"
            )
