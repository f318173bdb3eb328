"""Predictions of frames beside their simulations, on chips that nobody fitted to."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpuprof.predict.chip_numbers import numbers_of
from gpuprof.predict.draws.draw_bottleneck import unit_of
from gpuprof.predict.draws.times import draw_times
from gpuprof.predict.mapping import Pair
from gpuprof.predict.prediction import DrawPrediction, Level, Prediction, predicted
from tests.prediction.draws.chips import KEPT_FRAMES, PREDICTED, REFERENCE, chip_named
from tests.prediction.draws.simulate import recorded_frame
from tests.prediction.draws.stored import ALONE, BUFFER, DRAW, FRAME, DrawRow
from tests.prediction.judge import TIE_SHARE

OF_DRAWS = {DRAW, ALONE}


class DrawPoint(NamedTuple):
    """A draw, a command buffer, or a frame, on a chip. Microseconds; `naive` is the naive method's score, times what
    the reference chip takes. `by_rules`: by the rules alone, whose sums are command buffers and frames, as the
    reference chip has them; `rules_scaled`: of draws, too, as the reference chip has them. `rule`: of a draw, the
    number of the one that holds, and its condition. `shares`: what doubling each unit saves in the simulation, None
    where that was not done.
    """

    level: str
    frame: str
    part: int
    chip: str
    simulated: float
    predicted: float
    by_rules: float
    rules_scaled: float
    rule: str
    naive: float
    unit: str
    shares: dict[str, float] | None

    @property
    def error(self) -> float:
        """By how much of the simulated time the prediction is off."""
        return abs(self.predicted / self.simulated - 1)

    @property
    def rule_error(self) -> float:
        return abs(self.by_rules / self.simulated - 1)

    @property
    def scaled_rule_error(self) -> float:
        return abs(self.rules_scaled / self.simulated - 1)

    @property
    def naive_error(self) -> float:
        return abs(self.naive / self.simulated - 1)

    @property
    def is_right(self) -> bool:
        """Whether the named unit saves as much as any, only where units were doubled; shader stages are one unit."""
        assert self.shares is not None, self
        return self.shares.get(unit_of(self.unit), 0) >= max(self.shares.values(), default=0) - TIE_SHARE

    @property
    def is_kept(self) -> bool:
        """Of what nobody looked at before the last judgement."""
        return self.frame in KEPT_FRAMES


def judge_draws(frames: Sequence[str], truth: Sequence[DrawRow], folder: Path) -> list[DrawPoint]:
    """`folder` keeps the frames' recordings on the reference chip."""
    points: list[DrawPoint] = []
    for frame in frames:
        rows = {(row.chip, row.level, row.part): row for row in truth if row.frame == frame}
        chips = [chip for chip in PREDICTED if (chip, FRAME, 0) in rows]
        if chips and (REFERENCE, FRAME, 0) in rows:
            numbers = numbers_of([chip_named(chip) for chip in chips])
            found = predicted(recorded_frame(frame, folder), numbers)
            alone = predicted(recorded_frame(frame, folder, True), numbers, with_units=False)
            for place, chip in enumerate(chips):
                points += _of_chip(frame, found, (DRAW, BUFFER, FRAME), place, chip, rows)
                points += _of_chip(frame, alone, (ALONE,), place, chip, rows)
    return points


def _of_chip(
    frame: str,
    found: Prediction,
    levels: Sequence[str],
    place: int,
    chip: str,
    rows: dict[tuple[str, str, int], DrawRow],
) -> list[DrawPoint]:
    clock, there = chip_named(chip).clock_mhz, chip_named(REFERENCE).clock_mhz
    points = []
    for level, number, us, slower, each in _parts(found, levels, place):
        row, reference = rows[chip, level, number], rows[REFERENCE, level, number].cycles / there
        rules = _by_rules(found, each, place)
        scaled = rules / _by_rules(found, each, None) * reference
        points.append(
            DrawPoint(
                level,
                frame,
                number,
                chip,
                row.cycles / clock,
                us,
                rules if level in OF_DRAWS else scaled,
                scaled,
                _rule_of(found, number) if level in OF_DRAWS else "",
                slower * reference,
                each.units[place],
                row.shares(),
            )
        )
    return points


def _rule_of(found: Prediction, number: int) -> str:
    """By the reference chip's ratios."""
    rule, condition = draw_times(found.recorded.draws[number], numbers_of([found.recorded.reference])).held
    return f"{rule.number}, {condition.text}"


def _parts(
    found: Prediction, levels: Sequence[str], place: int
) -> Iterator[tuple[str, int, float, float, DrawPrediction | Level]]:
    """Level, number there, microseconds, and how many times as long as on the reference chip the naive method says."""
    clock = float(found.chips["clock_mhz"][place])
    for level in OF_DRAWS & set(levels):
        for number, draw in enumerate(found.draws):
            yield level, number, float(draw.cycles[place]) / clock, _naive_draw(found, draw, place), draw
    if BUFFER in levels:
        for number, buffer in enumerate(found.buffers):
            yield BUFFER, number, float(buffer.microseconds[place]), _naive_level(found, buffer, place), buffer
    if FRAME in levels:
        yield FRAME, 0, float(found.test.microseconds[place]), 1 / float(found.naive_score[place]), found.test


def _by_rules(found: Prediction, each: DrawPrediction | Level, place: int | None) -> float:
    """The sum of an item's draws by their rules, in microseconds; `place` None: on the reference chip."""
    draws = [each] if isinstance(each, DrawPrediction) else [found.draws[number] for number in each.draws]
    if place is None:
        return sum(draw.rule_of_reference for draw in draws)
    return sum(float(draw.rule_cycles[place]) for draw in draws) / float(found.chips["clock_mhz"][place])


def _naive_draw(found: Prediction, draw: DrawPrediction, place: int) -> float:
    """How many times as long as on the reference chip."""
    return float(draw.naive_cycles[place] / found.chips["clock_mhz"][place]) / draw.naive_of_reference


def _naive_level(found: Prediction, level: Level, place: int) -> float:
    there = sum(found.draws[number].naive_of_reference for number in level.draws)
    return float(level.naive[place]) / there


def pairs_of(points: Sequence[DrawPoint], level: str) -> list[Pair]:
    return [Pair(each.predicted, each.simulated, each.chip, each.frame) for each in points if each.level == level]


def errors_of(points: Sequence[DrawPoint]) -> np.ndarray:
    return np.array([point.error for point in points])
