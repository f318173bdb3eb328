"""Chooses the sampling period: the shortest, among the least possible one times a power of two, that loses no sample.

Random draws depend only on the cycle, so the samples of twice a period are those of every second sampled cycle. The
launches are sampled at the shortest period by cells whose FIFOs and buffer lose nothing; the samples are thinned
whenever there are too many for the event buffer, and at the end until the FIFOs would have held them, too. A run with
the resulting period would have recorded the same.
"""

from dataclasses import replace

import numpy as np

from gpuprof.errors import UsageError
from gpuprof.tables.samples import SAMPLED_COUNTERS, SM_SHIFT, WIDE, losses_of_none
from gpuprof.timing.batch import Grid, Transfers
from gpuprof.timing.buffer import Sink, by_launch
from gpuprof.timing.sampling.configuration import MAX_BUFFER_NBYTES, MAX_FIFO_DEPTH, MIN_PERIOD_CYCLES, Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.machine import Machine

THINNED_MODES = ("random", "all", "stalled")
MOST_RECORDS = 1 << 21  # held at a time
NOTHING = np.empty(0, WIDE.dtype)
SAMPLED = (WIDE.dtype, SAMPLED_COUNTERS.dtype)  # rows of which a longer period retains fewer


def simulate_with_period(
    machine: Machine,
    grids: list[Grid],
    sampling: Sampling,
    sink: Sink,
    max_cycles: int,
    sample_blocks: bool,
    record_nbytes: int,
    transfers: Transfers | None = None,
) -> list[LaunchTiming]:
    """Times grids like `simulate_batch`, finds the period, and puts it into each timing. Raises UsageError for a
    sampler whose samples cannot be thinned.
    """
    if sampling.mode not in THINNED_MODES or sampling.stream != "aux":
        raise UsageError(f"sampling period auto: it needs one of the modes {', '.join(THINNED_MODES)} and stream aux")
    chip = machine.chip
    # A record leaves the FIFO in each cycle: with this period all of a cycle's have left when the next come.
    shortest = MIN_PERIOD_CYCLES
    while shortest < chip.warp_slots and sampling.mode == "all":
        shortest *= 2
    capacity = min(sampling.buffer_nbytes // record_nbytes, MOST_RECORDS)
    held = _Held(shortest, sampling.phase_cycles, capacity)
    lossless = replace(
        sampling,
        auto_period=0,
        period_cycles=shortest,
        fifo_depth=MAX_FIFO_DEPTH,
        drain_cycles=1,
        buffer_nbytes=MAX_BUFFER_NBYTES,
    )
    try:
        timings = simulate_batch(
            machine, grids, lossless, held.take, max_cycles, sample_blocks, record_nbytes, transfers
        )
    finally:
        while held.overflows(sampling.fifo_depth, sampling.drain_cycles or chip.sampler_drain_cycles):
            held.thin()
        held.hand_over(sink)
    of_launch = dict(by_launch(held.samples()))
    return [
        _with(timing, of_launch.get(grid.launch.index, NOTHING), held.period)
        for grid, timing in zip(grids, timings, strict=True)
    ]


def _with(timing: LaunchTiming, samples: np.ndarray, period_cycles: int) -> LaunchTiming:
    """The launch's timing with what was recorded of it: nothing was lost."""
    n = len(samples)
    return replace(
        timing, samples_due=n, samples_kept=n, losses=losses_of_none(samples), sampling_period_cycles=period_cycles
    )


class _Held:
    """The samples and counter rows held so far: those of the cycles that are `phase` modulo `period`."""

    def __init__(self, period: int, phase: int, capacity: int):
        self.period, self.phase, self.capacity = period, phase, capacity
        self.rows: dict[np.dtype, list[np.ndarray]] = {}
        self.exact: list[np.ndarray] = []  # rows of blocks and warps, which stay

    def take(self, rows: np.ndarray) -> None:
        if rows.dtype not in SAMPLED:
            self.exact.append(rows)
            return
        self.rows.setdefault(rows.dtype, []).append(self._thinned(rows))
        while sum(map(len, self.rows.get(WIDE.dtype, []))) > self.capacity:
            self.thin()

    def thin(self) -> None:
        self.period *= 2
        self.rows = {dtype: [self._thinned(np.concatenate(parts))] for dtype, parts in self.rows.items()}

    def _thinned(self, rows: np.ndarray) -> np.ndarray:
        return rows[rows["cycle"] % self.period == self.phase]

    def samples(self) -> np.ndarray:
        return np.concatenate(self.rows.get(WIDE.dtype) or [NOTHING])

    def overflows(self, depth: int, drain_cycles: int) -> bool:
        """True when a FIFO of `depth` records that releases one every `drain_cycles` would have been full once."""
        samples = self.samples()
        sms = samples["stall_sm"] >> SM_SHIFT
        return any(
            _overflows(samples["cycle"][sms == sm].astype(np.int64), depth, drain_cycles) for sm in np.unique(sms)
        )

    def hand_over(self, sink: Sink) -> None:
        for parts in (self.exact, *self.rows.values()):
            for rows in parts:
                if len(rows):
                    sink(rows)


def _overflows(cycles: np.ndarray, depth: int, drain_cycles: int) -> bool:
    """Record i leaves at max over j <= i of cycles[j] + (i - j + 1) drain_cycles; it needs the place of record i -
    depth.
    """
    i = np.arange(len(cycles))
    leaves = drain_cycles * (i + 1) + np.maximum.accumulate(cycles - drain_cycles * i)
    return bool((leaves[:-depth] > cycles[depth:]).any()) if len(cycles) > depth else False
