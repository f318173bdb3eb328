"""Counts of each launch's trace, for recordings with counters of blocks: accesses by instruction, reuse distances."""

from collections.abc import Iterator

from gpuprof.device import commands as cmd
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.errors import KernelFault
from gpuprof.records.writer import RecordWriter
from gpuprof.run.observers.observer import LaunchResult, SessionObserver
from gpuprof.run.trace_counts.launch_counts import TraceCounts
from gpuprof.run.trace_counts.line_accesses import Recorded, recorded
from gpuprof.run.trace_counts.reuse_distances import DeviceStream
from gpuprof.tables.blocks import ACCESS_COUNTERS, REUSE_DISTANCES
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.state.cached_tables import Programs


class BlockCounts(SessionObserver):
    """`programs`: the timing model's, which retain the modules, and so the ids of these."""

    def __init__(self, recorder: RecordWriter, programs: Programs):
        self._recorder, self._programs = recorder, programs
        self._device_stream = DeviceStream()
        self._counts: dict[int, TraceCounts] = {}  # by launch, of the batch that is being timed
        self._recorded: dict[int, Recorded] = {}  # by id of the module

    def trace(self, launch: cmd.Launch, pieces: Iterator[TracePiece], sampling: Sampling) -> Iterator[TracePiece]:
        if not sampling.counts_blocks:
            return pieces
        counts = TraceCounts(launch, self._accessing(launch), self._device_stream)
        self._counts[launch.index] = counts
        return counts.counting(pieces)

    def _accessing(self, launch: cmd.Launch) -> Recorded:
        module = launch.module
        if id(module) not in self._recorded:
            program = self._programs.of(module)
            self._recorded[id(module)] = recorded(module.code, program.inst["has_access"] != 0)
        return self._recorded[id(module)]

    def timed(self, result: LaunchResult) -> None:
        launch = result.launch.index
        if counts := self._counts.pop(launch, None):
            self._recorder.rows(ACCESS_COUNTERS, launch, counts.access_rows())
            self._recorder.rows(REUSE_DISTANCES, launch, counts.reuse_rows())

    def stopped(self, launch: cmd.Launch, error: KernelFault | KeyboardInterrupt) -> None:
        self._counts.pop(launch.index, None)
