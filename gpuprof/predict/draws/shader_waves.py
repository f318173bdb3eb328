"""The trace of a draw's shader waves (T-trace), in the form that the ratios need."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# (stage, later stage, name in a trace). The first row that fits a stage gives its name.
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
    """int64 (waves,), in order of dispatch: when each wave of a stage started and ended, in cycles from power-on."""

    start_cycles: np.ndarray
    end_cycles: np.ndarray

    @property
    def first_wave_cycles(self) -> int:
        """Duration of the wave that was dispatched first."""
        return int(self.end_cycles[0] - self.start_cycles[0])

    @property
    def cycles(self) -> int:
        """From the start of the first wave to the end of the last."""
        return int(self.end_cycles.max() - self.start_cycles.min())


class Trace(NamedTuple):
    """Cycles of a draw's waves on the reference chip. `first_waves`: of the first wave of each front-end stage except
    the last, by its trace name. `last_stage`, which passes primitives to the assembly, is `vs` if there is one.
    """

    first_waves: dict[str, int]
    last_stage: str
    last_stage_cycles: int
    last_stage_first_wave: int
    total_cycles: int
    front_end_waves: int


def trace_names(stages: Sequence[str]) -> dict[str, str]:
    """The names in a trace of a draw's stages, which come in their order."""
    return {
        stage: next(name for own, later, name in NAMES if own == stage and (not later or later in stages[index + 1 :]))
        for index, stage in enumerate(stages)
    }


def trace_of(waves: dict[str, Waves]) -> Trace:
    """The trace of stages that have waves, in their order; at least one belongs to the front end."""
    names = trace_names(list(waves))
    front_end = [stage for stage in waves if stage != "pixel"]
    *before, last = front_end
    first, end = (
        min(stage_waves.start_cycles.min() for stage_waves in waves.values()),
        max(stage_waves.end_cycles.max() for stage_waves in waves.values()),
    )
    return Trace(
        {names[stage]: waves[stage].first_wave_cycles for stage in before},
        names[last],
        waves[last].cycles,
        waves[last].first_wave_cycles,
        int(end - first),
        sum(len(waves[stage].start_cycles) for stage in front_end),
    )
