"""A draw's block times on some chips, and its cycles by the rules."""

from dataclasses import dataclass, replace

import numpy as np

from gpuprof.chips.draw_units import BACK_UNITS, FRONT_UNITS, SHADER_STAGES
from gpuprof.predict.chip_numbers import Numbers
from gpuprof.predict.draws.draw_memory import MEMORY, answer_cycles, memory_cycles
from gpuprof.predict.draws.draw_stages import StageTimes, stage_times
from gpuprof.predict.draws.patent_rules import Ends, Held, rule_of
from gpuprof.predict.draws.pipeline_units import unit_cycles
from gpuprof.predict.draws.ratios import Ratios, ratios_of
from gpuprof.predict.draws.recorded_draws import RecordedDraw
from gpuprof.predict.draws.shader_waves import trace_of

*FRONT_STAGES, PIXEL = SHADER_STAGES
FRONT_END = frozenset((*FRONT_UNITS, *FRONT_STAGES))
BLOCKS = (*FRONT_UNITS, *FRONT_STAGES, *BACK_UNITS, PIXEL, *MEMORY)


@dataclass(frozen=True)
class DrawTimes:
    """float64 (chips,), the reference chip first: `units`: cycles of each of a draw's units, memory included; `stages`
    by name; `answers`: cycles until memory answers a unit.
    """

    draw: RecordedDraw
    units: dict[str, np.ndarray]
    stages: dict[str, StageTimes]
    answers: dict[str, np.ndarray]
    ratios: Ratios
    held: Held

    @property
    def blocks(self) -> dict[str, np.ndarray]:
        """Cycles of each block, in the order of BLOCKS."""
        cycles = self.units | {stage: times.block for stage, times in self.stages.items()}
        return {name: cycles[name] for name in BLOCKS if name in cycles}

    @property
    def rule_cycles(self) -> np.ndarray:
        """Cycles by the rule that fits the reference chip."""
        blocks = self.blocks
        front, back = ends_of(blocks)
        zeros = np.zeros(len(next(iter(blocks.values()))))
        ends = Ends(_slowest(front, zeros), _slowest(back, zeros), sum(self.first_waves.values(), zeros))
        return self.held.rule.cycles(ends, self.ratios)

    @property
    def first_waves(self) -> dict[str, np.ndarray]:
        """Cycles of the first wave of each front-end stage, whose sum fills the front end: those of the trace, scaled
        by the modelled time of one wave.
        """
        return {
            stage: self.draw.waves[stage].first_wave_cycles * times.wave / times.wave[0]
            for stage, times in self.stages.items()
            if stage in FRONT_END and stage in self.draw.waves
        }

    @property
    def naive_cycles(self) -> np.ndarray:
        """Cycles of the slowest block: all blocks work in parallel and never wait."""
        return np.maximum.reduce(list(self.blocks.values()))

    def with_twice(self, unit: str) -> "DrawTimes":
        """The times with a fixed-function unit at twice the rate."""
        halved = {unit: self.units[unit] / 2} if unit in self.units else {}
        return replace(self, units=self.units | halved)


def _slowest(blocks: dict[str, np.ndarray], zeros: np.ndarray) -> np.ndarray:
    return np.maximum.reduce([zeros, *blocks.values()])


def ends_of(blocks: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The blocks of the front end and those of the back end."""
    front = {name: cycles for name, cycles in blocks.items() if name in FRONT_END}
    return front, {name: cycles for name, cycles in blocks.items() if name not in FRONT_END}


def shader_engines(chips: Numbers) -> int:
    """Shader engines of the reference chip: one with each raster engine, which sets up a triangle per cycle."""
    return max(1, round(float(chips["graphics.triangles_per_cycle"][0])))


def draw_times(draw: RecordedDraw, chips: Numbers) -> DrawTimes:
    """The times of a draw; `chips`: the reference chip first."""
    stages = {stage: stage_times(launches, chips) for stage, launches in draw.launches.items()}
    units = unit_cycles(draw, chips) | memory_cycles(draw, chips)
    cycles = units | {stage: times.block for stage, times in stages.items()}
    on_reference = ({name: float(block_cycles[0]) for name, block_cycles in end.items()} for end in ends_of(cycles))
    ratios = ratios_of(*on_reference, trace_of(draw.waves), draw.logged_cycles, shader_engines(chips))
    return DrawTimes(draw, units, stages, answer_cycles(draw, chips), ratios, rule_of(ratios))
