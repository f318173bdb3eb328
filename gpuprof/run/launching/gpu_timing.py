"""The timing model of one GPU: batches of launches in, their timings and samples out."""

from dataclasses import replace

import numpy as np

from gpuprof.base.cache_control import COLD, CacheControl
from gpuprof.chips import Chip
from gpuprof.errors import UsageError
from gpuprof.records.writer import RECORD_NBYTES
from gpuprof.run.launching.sampling_overhead import copy_of, simulate_twice
from gpuprof.run.launching.stored_trace import repeated
from gpuprof.timing.auto import simulate_with_period
from gpuprof.timing.batch import Grid, Transfers
from gpuprof.timing.buffer import Sink
from gpuprof.timing.first_run import Compilation, is_compiled
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.machine import Machine, empty_caches, power_on
from gpuprof.timing.trace_keeper import TraceKeeper

NO_LIMIT_CYCLES = 1 << 62  # without a limit of the user's, what the emulator ends is timed to its end


class GpuTiming:
    """`machine`: the GPU's state between batches. record: the kind of samples. sample_blocks: time only as many blocks
    of a launch as show its rate. keeper: gets the last timing of each batch.
    """

    def __init__(
        self,
        chip: Chip,
        record: str,
        sample_blocks: bool,
        max_cycles: int | None,
        keeper: TraceKeeper | None = None,
    ):
        self.machine = power_on(chip)
        self._record_nbytes, self._sample_blocks = RECORD_NBYTES[record], sample_blocks
        self._max_cycles, self._keeper = max_cycles or NO_LIMIT_CYCLES, keeper
        self._undisturbed: Machine | None = None  # a GPU that is not sampled, once sampling disturbs
        self._compilation = None if is_compiled() else Compilation()
        self._notice = self._compilation.notice if self._compilation else ""

    def take_notice(self) -> str:
        """A sentence for the user whose first run waits for the compiler, once; "" if there is none."""
        notice, self._notice = self._notice, ""
        return notice

    def wait_until_compiled(self) -> None:
        if self._compilation:
            self._compilation.wait()
            self._compilation = None

    def time(
        self,
        grids: list[Grid],
        sampling: Sampling,
        sink: Sink,
        control: CacheControl,
        transfers: Transfers | None = None,
    ) -> list[LaunchTiming]:
        """Times a batch as often as `control` says; gives the last timing, with the cycles of those that it counts.
        Only the last one is sampled, and has the operations of `transfers` in it.
        """
        cycles: list[list[int]] = []  # of the launches, in each timing
        timings: list[LaunchTiming] = []
        for number, now in enumerate(repeated(grids, control.timings), 1):
            if control.cache == COLD:
                self._empty_caches()
            is_last = number == control.timings
            if is_last and self._keeper:
                now = self._keeper.keep(self.machine, now)
            timings = self._time(now, sampling, sink, transfers) if is_last else self._time(now, Sampling(), nowhere)
            cycles.append([timing.cycles for timing in timings])
        if control.repeat == 1:
            return timings
        counted = np.array(cycles[-control.repeat :], np.uint64).T
        return [replace(timing, repetitions=row) for timing, row in zip(timings, counted, strict=True)]

    def _time(
        self, grids: list[Grid], sampling: Sampling, sink: Sink, transfers: Transfers | None = None
    ) -> list[LaunchTiming]:
        """Times a batch. Once records have passed the load/store unit, everything is timed twice: their effects on
        the caches may show later.
        """
        if self._undisturbed is None and sampling.stream == "lsu" and sampling.is_on:
            # From the first sampled launch on: until then both GPUs have the same caches.
            self._undisturbed = copy_of(self.machine)
        limit, nbytes = self._max_cycles, self._record_nbytes
        if self._undisturbed is not None:
            return simulate_twice(self.machine, self._undisturbed, grids, sampling, sink, limit, nbytes, transfers)
        simulate = simulate_with_period if sampling.auto_period else simulate_batch
        return simulate(self.machine, grids, sampling, sink, limit, self._sample_blocks, nbytes, transfers)

    def _empty_caches(self) -> None:
        for machine in (self.machine, self._undisturbed):
            if machine is not None:
                empty_caches(machine)

    def check(self, control: CacheControl) -> None:
        """Raises UsageError for what --sample-blocks does not allow: each timing would leave out other blocks."""
        if self._sample_blocks and control.timings > 1:
            raise UsageError(
                "--sample-blocks times a part of the blocks, and --cache warm or --repeat times the same ones again; "
                "leave out one of the two"
            )


def nowhere(rows: np.ndarray) -> None:
    """The sink of a timing that is not reported."""
