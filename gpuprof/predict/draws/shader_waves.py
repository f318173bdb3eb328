"""The trace of a draw's shader waves (T-trace), as the ratios want it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# Behind each other: names of a trace by who follows. The first row that fits a stage is its.
NAMES = (
    ("vertex", "hull", "ls"),
    ("vertex", "geometry", "es"),
    ("vertex", "", "vs"),
    ("hull", "", "hs"),
    ("domain", "geometry", "es"),
    ("domain", "", "vs"),
    ("geometry", "", "gs"),
    ("pixel", "", "ps"),
)


class Waves(NamedTuple):
    """int64 (waves,), in order of dispatch: when each wave of a stage started and ended, cycles from power-on."""

    start_cycles: np.ndarray
    end_cycles: np.ndarray

    @property
    def first_wave_cycles(self) -> int:
        """How long the wave took that was dispatched first."""
        return int(self.end_cycles[0] - self.start_cycles[0])

    @property
    def cycles(self) -> int:
        """From the start of the first wave to the end of the last."""
        return int(self.end_cycles.max() - self.start_cycles.min())


class Trace(NamedTuple):
    """Cycles of a draw's waves on the reference chip. `first_waves`: of the first wave of each front-end stage but the
    last, by its trace name. `last_stage`, which hands primitives to the assembly, is `vs` where there is one.
    """

    first_waves: dict[str, int]
    last_stage: str
    last_stage_cycles: int
    last_stage_first_wave: int
    total_cycles: int
    front_end_waves: int


def trace_names(stages: Sequence[str]) -> dict[str, str]:
    """The names in a trace of a draw's stages, which are in their order."""
    return {
        stage: next(
            name for own, behind, name in NAMES if own == stage and (not behind or behind in stages[place + 1 :])
        )
        for place, stage in enumerate(stages)
    }


def trace_of(waves: dict[str, Waves]) -> Trace:
    """Of the stages that have waves, in their order; of the front end one at least."""
    names = trace_names(list(waves))
    front_end = [stage for stage in waves if stage != "pixel"]
    *before, last = front_end
    first, end = (
        min(each.start_cycles.min() for each in waves.values()),
        max(each.end_cycles.max() for each in waves.values()),
    )
    return Trace(
        {names[stage]: waves[stage].first_wave_cycles for stage in before},
        names[last],
        waves[last].cycles,
        waves[last].first_wave_cycles,
        int(end - first),
        sum(len(waves[stage].start_cycles) for stage in front_end),
    )
