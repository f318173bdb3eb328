"""Counts of one launch's trace, a piece at a time."""

from collections.abc import Iterator

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.run.trace_counts.line_accesses import AccessSums, Recorded
from gpuprof.run.trace_counts.reuse_distances import DeviceStream, LaunchReuse


class TraceCounts:
    """Sums over the pieces of a launch that pass through `counting`."""

    def __init__(self, launch: cmd.Launch, code: Recorded, device: DeviceStream):
        self.launch = launch
        self.sums = AccessSums(code)
        self.reuse = LaunchReuse(device, launch.n_blocks)

    def counting(self, pieces: Iterator[TracePiece]) -> Iterator[TracePiece]:
        for piece in pieces:
            self.add(piece)
            yield piece

    def add(self, piece: TracePiece) -> None:
        self.reuse.add(self.sums.add(piece, self.reuse.device.n_exact, self.reuse.stride))

    def access_rows(self) -> np.ndarray:
        """tables.blocks.ACCESS_COUNTERS."""
        n_instructions = len(self.launch.module.code)
        return self.sums.rows(self.launch.module.load_base + INSTRUCTION_NBYTES * np.arange(n_instructions))

    def reuse_rows(self) -> np.ndarray:
        """tables.blocks.REUSE_DISTANCES."""
        return self.reuse.rows(self.launch.index)
