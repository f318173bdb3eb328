"""The counts of one chunk that another process carried out, and how they are added to those of the launch."""

from typing import NamedTuple

import numpy as np

from gpuprof.emulate.trace_log.event_tally import Tally
from gpuprof.emulate.trace_log.launch_counters import COUNTER_NAMES, LaunchCounters
from gpuprof.emulate.trace_log.patterns import Patterns, add_patterns


class ChunkCounts(NamedTuple):
    """rows: uint64 (counters, instructions), in the order of COUNTER_NAMES; without instructions when nothing is
    counted. The others are as in Tally, LaunchCounters and Pulse.
    """

    rows: np.ndarray
    warps: dict[int, int]
    threads: dict[int, int]
    guarded: dict[int, int]
    slow_slots: dict[int, int]
    patterns: dict[int, Patterns]
    warp_instructions: int
    at: int

    @property
    def can_be_added(self) -> bool:
        """False where a chunk had too many patterns, so that some have no row: those before it may have had theirs."""
        return not any(each.warps[-1] for each in self.patterns.values())


def empty_tally(tally: Tally) -> Tally:
    """One of the same launch that has counted nothing."""
    return Tally(LaunchCounters.zeros(len(tally.counters.inst_executed)), tally.is_wanted)


def counts_of(tally: Tally) -> ChunkCounts:
    """Gives all that an empty tally has counted since."""
    counters, pulse = tally.counters, tally.counters.pulse
    rows = np.stack([getattr(counters, name) for name in COUNTER_NAMES])
    return ChunkCounts(
        rows if tally.is_wanted else rows[:, :0],
        tally.warps,
        tally.threads,
        tally.guarded,
        counters.slow_slots,
        counters.patterns,
        pulse.warp_instructions,
        pulse.at,
    )


def add_counts(counts: ChunkCounts, tally: Tally) -> None:
    """Adds them, as if the chunk had been counted there."""
    counters = tally.counters
    for name, row in zip(COUNTER_NAMES, counts.rows, strict=True):
        getattr(counters, name)[: len(row)] += row
    for known, more in (
        (tally.warps, counts.warps),
        (tally.threads, counts.threads),
        (tally.guarded, counts.guarded),
        (counters.slow_slots, counts.slow_slots),
    ):
        for key, number in more.items():
            known[key] = known.get(key, 0) + number
    for at, patterns in counts.patterns.items():
        add_patterns(patterns, counters.patterns.setdefault(at, Patterns.none()))
    counters.pulse.warp_instructions += counts.warp_instructions
    counters.pulse.at = counts.at
