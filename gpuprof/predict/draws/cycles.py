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
    """float64 (chips,). `passed` as modelled; `twice`: the same with each of doubled.DOUBLED of twice the rate, nothing
    where nobody asked. `factor`: how many times its modelled own time the draw took on the reference chip.
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
        """With each of doubled.DOUBLED of twice the rate."""
        return {name: each.own * self.factor for name, each in self.twice.items()}


def cycles_of_draws(
    draws: Sequence[RecordedDraw],
    chips: Numbers,
    with_units: bool,
    at_a_time: int,
    done: Callable[[int], None] = lambda points: None,
) -> list[DrawCycles]:
    """`chips`: the reference chip first; so many are worked out at a time. `done` is told how many others there are so
    far.
    """
    reference, found = chips.part(0, 1), []
    for k in range(0, len(chips), at_a_time):
        found.append(_of_part(draws, joined([reference, chips.part(k, k + at_a_time)]), with_units))
        done(min(k + at_a_time, len(chips)) - 1)
    return [_together(each) for each in zip(*found, strict=True)]


def _of_part(draws: Sequence[RecordedDraw], chips: Numbers, with_units: bool) -> list[DrawCycles]:
    """Of the chips behind the reference chip."""
    times = [draw_times(draw, chips) for draw in draws]
    plain = _passed(times)
    quick = all_with_twice(times, chips) if with_units else {}
    twice = {name: _passed(faster) for name, faster in quick.items()}
    return [
        DrawCycles(
            _without_reference(plain[place]),
            {name: _without_reference(rows[place]) for name, rows in twice.items()},
            each.rule_cycles[1:],
            each.naive_cycles[1:],
            each.draw.logged_cycles / float(plain[place].own[0]),
        )
        for place, each in enumerate(times)
    ]


def _passed(times: Sequence[DrawTimes]) -> list[Passed]:
    """Of each draw, epoch by epoch: the pipeline is empty when the host has waited."""
    epochs: dict[int, list[int]] = {}
    for place, each in enumerate(times):
        epochs.setdefault(each.draw.epoch, []).append(place)
    found = {}
    for places in epochs.values():
        found |= dict(zip(places, passed([times[place] for place in places]), strict=True))
    return [found[place] for place in range(len(times))]


def _without_reference(found: Passed) -> Passed:
    return Passed(*(cycles[1:] for cycles in found))


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
