"""Errors of the host with memory of the GPU, by the names of the checkers."""

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
    command: cmd.Command, error: DeviceMemoryError, memory: AddressSpace, call: str = ""
) -> Iterator[HostError]:
    """The command's error; none if memory was exhausted. `call`: the line and call of the host."""
    text = f"{call}: {error}" if call else str(error)
    if getattr(command, "nbytes", 0) < 0:
        yield HostError("negative_size", text)
    elif isinstance(command, cmd.Free | cmd.FreeLater):
        yield HostError("double_free" if memory.was_freed(command.address) else "invalid_free", text)
    elif isinstance(command, COPIES):
        yield HostError("copy_out_of_bounds", text)


def leaks(memory: AddressSpace, modules: Sequence[LoadedModule]) -> Iterator[HostError]:
    """Allocations that belong to no module."""
    variables = {address for module in modules for address in module.global_symbols.values()}
    for allocation in memory.allocations:
        if not any(allocation.address <= address < allocation.end for address in variables):
            yield HostError(
                "leak", f"{allocation.nbytes} bytes at {allocation.address:#x} are never freed: {allocation.name}"
            )
