"""A launch that can be timed again, as a plain value."""

from dataclasses import dataclass

from gpuprof.device.commands import Launch
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.timing.batch import Grid
from gpuprof.timing.state.machine import Machine


@dataclass(frozen=True)
class Subject:
    """A launch that can be timed again: `grids` is its batch, without pieces, and `traces` their whole pieces, by first
    block. number: of the launch's grid in the batch. machine: the GPU before the batch; nothing writes to it.
    """

    grids: tuple[Grid, ...]
    traces: tuple[tuple[TracePiece, ...], ...]
    number: int
    machine: Machine

    @property
    def trace(self) -> tuple[TracePiece, ...]:
        """The launch's own pieces."""
        return self.traces[self.number]

    @property
    def launch(self) -> Launch:
        return self.grids[self.number].launch
