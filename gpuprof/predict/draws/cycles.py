"""The cycles of a recording's draws on many chips."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gpuprof.predict.chip_numbers import Numbers, joined
from gpuprof.predict.draws.draw_bottleneck import all_with_twice
from gpuprof.predict.draws.pipeline_queue import Passed, passed
from gpuprof.predict.draws.recorded_draws import RecordedDraw
from gpuprof.predict.draws.times import DrawTimes, draw_times


@dataclass(frozen=True)
class DrawCycles:
    """float64 (chips,). `passed` as modelled; `twice`: the same with each of draw_bottleneck.DOUBLED at twice the rate,
    empty if it was not requested. `factor`: the draw's time on the reference chip over its modelled own time.
    """

    passed: Passed
    twice: dict[str, Passed]
    rule: np.ndarray
    naive: np.ndarray
    factor: float

    @property
    def cycles(self) -> np.ndarray:
        """The draw's own time."""
        return self.passed.own * self.factor

    @property
    def cycles_with_twice(self) -> dict[str, np.ndarray]:
        """The draw's own time with each of draw_bottleneck.DOUBLED at twice the rate."""
        return {name: passed.own * self.factor for name, passed in self.twice.items()}


def cycles_of_draws(
    draws: Sequence[RecordedDraw],
    chips: Numbers,
    with_units: bool,
    at_a_time: int,
    done: Callable[[int], None] = lambda points: None,
) -> list[DrawCycles]:
    """The cycles of each draw. `chips`: the reference chip first; `at_a_time` chips are evaluated at once. `done` is
    called with the number of other chips so far.
    """
    reference, parts = chips.part(0, 1), []
    for first in range(0, len(chips), at_a_time):
        parts.append(_of_part(draws, joined([reference, chips.part(first, first + at_a_time)]), with_units))
        done(min(first + at_a_time, len(chips)) - 1)
    return [_together(of_draw) for of_draw in zip(*parts, strict=True)]


def _of_part(draws: Sequence[RecordedDraw], chips: Numbers, with_units: bool) -> list[DrawCycles]:
    """The cycles of each draw on the chips after the reference chip."""
    times = [draw_times(draw, chips) for draw in draws]
    plain = _passed(times)
    quick = all_with_twice(times, chips) if with_units else {}
    twice = {name: _passed(faster) for name, faster in quick.items()}
    return [
        DrawCycles(
            _without_reference(plain[index]),
            {name: _without_reference(rows[index]) for name, rows in twice.items()},
            of_draw.rule_cycles[1:],
            of_draw.naive_cycles[1:],
            of_draw.draw.logged_cycles / float(plain[index].own[0]),
        )
        for index, of_draw in enumerate(times)
    ]


def _passed(times: Sequence[DrawTimes]) -> list[Passed]:
    """When each draw passes the pipeline, epoch by epoch: the pipeline is empty after the host has waited."""
    epochs: dict[int, list[int]] = {}
    for index, of_draw in enumerate(times):
        epochs.setdefault(of_draw.draw.epoch, []).append(index)
    by_index = {}
    for indices in epochs.values():
        by_index |= dict(zip(indices, passed([times[index] for index in indices]), strict=True))
    return [by_index[index] for index in range(len(times))]


def _without_reference(all_chips: Passed) -> Passed:
    return Passed(*(cycles[1:] for cycles in all_chips))


def _together(parts: Sequence[DrawCycles]) -> DrawCycles:
    first = parts[0]
    return DrawCycles(
        _joined([part.passed for part in parts]),
        {name: _joined([part.twice[name] for part in parts]) for name in first.twice},
        np.concatenate([part.rule for part in parts]),
        np.concatenate([part.naive for part in parts]),
        first.factor,
    )


def _joined(parts: Sequence[Passed]) -> Passed:
    return Passed(*(np.concatenate(rows) for rows in zip(*parts, strict=True)))
