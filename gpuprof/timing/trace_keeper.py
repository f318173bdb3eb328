"""The protocol of what stores the traces of batches for further timings."""

from typing import Protocol

from gpuprof.timing.batch import Grid
from gpuprof.timing.state.machine import Machine


class TraceKeeper(Protocol):
    def keep(self, machine: Machine, grids: list[Grid]) -> list[Grid]:
        """The grids of a batch, to be timed in place of `grids` on the machine as it is now."""
