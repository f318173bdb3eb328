"""Predictions of one recording for many chips: launches, draws, command buffers, the test, its score, and their
bottlenecks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from gpuprof.predict.bottleneck import UNITS, with_twice
from gpuprof.predict.chip_numbers import Numbers, joined, numbers_of
from gpuprof.predict.draws.cycles import DrawCycles, cycles_of_draws
from gpuprof.predict.draws.draw_bottleneck import DOUBLED, bottlenecks
from gpuprof.predict.draws.draw_refusal import refusals_of_draw
from gpuprof.predict.launch import model
from gpuprof.predict.levels import microseconds, parallel_parts, recorded_buffer, recorded_test, serial
from gpuprof.predict.mapping import IDENTITIES, Mappings
from gpuprof.predict.naive import naive_cycles
from gpuprof.predict.recorded import Buffer, Recorded
from gpuprof.predict.refusal import refusals
from gpuprof.predict.work import Work

AT_A_TIME = 512  # chips: their rows of stalls stay in the processor's cache


@dataclass(frozen=True)
class LaunchPrediction:
    """Arrays are (chips,). `units` names each chip's bottleneck, "" where nobody asked. `refused`: why a chip cannot
    run it, by its place. `recorded` and `naive_of_reference`: microseconds on the reference chip.
    """

    launch: int
    kernel: str
    cycles: np.ndarray
    naive_cycles: np.ndarray
    units: tuple[str, ...]
    refused: dict[int, str]
    recorded: float
    naive_of_reference: float


@dataclass(frozen=True)
class DrawPrediction:
    """As of a launch; `units` are those of draws (draws.doubled). `rule_cycles`: by the rules alone, and
    `rule_of_reference`: their microseconds on the reference chip.
    """

    draw: int
    name: str
    cycles: np.ndarray
    rule_cycles: np.ndarray
    naive_cycles: np.ndarray
    units: tuple[str, ...]
    refused: dict[int, str]
    recorded: float
    naive_of_reference: float
    rule_of_reference: float


@dataclass(frozen=True)
class Level:
    """A command buffer, or the whole test: microseconds, float64 (chips,)."""

    name: str
    launches: tuple[int, ...]  # places
    draws: tuple[int, ...]
    microseconds: np.ndarray
    naive: np.ndarray
    units: tuple[str, ...]


@dataclass(frozen=True)
class Prediction:
    """`score`: how many times as fast as the reference chip each chip is; NaN where it cannot run a launch."""

    chips: Numbers
    recorded: Recorded
    launches: tuple[LaunchPrediction, ...]
    draws: tuple[DrawPrediction, ...]
    buffers: tuple[Level, ...]
    test: Level
    score: np.ndarray
    naive_score: np.ndarray


def _nobody(points: int) -> None:
    pass


def predicted(
    recorded: Recorded,
    chips: Numbers,
    mappings: Mappings = IDENTITIES,
    with_units: bool = True,
    done: Callable[[int], None] = _nobody,
) -> Prediction:
    """`with_units`: with the bottlenecks, which takes as long again for each of doubled.UNITS where there are launches.
    `done` is told how many points there are so far.
    """
    reference = numbers_of([recorded.reference])
    asked = joined([reference, chips])
    times = _cycles(recorded, asked, _nobody if recorded.draws else done)
    drawn = cycles_of_draws(recorded.draws, asked, with_units, AT_A_TIME, done if recorded.draws else _nobody)
    twice = {name: with_twice(asked, name) for name in UNITS} if with_units and recorded.launches else {}
    faster = {name: _cycles(recorded, joined([reference, each])) for name, each in twice.items()}
    sides = _Sides(recorded, asked, times, drawn, twice, faster)
    naive = [naive_cycles(each, asked) for each in recorded.launches]
    refused = [refusals(Work(each, asked)) for each in recorded.launches]
    refused_draws = [refusals_of_draw(each, asked) for each in recorded.draws]
    buffers = []
    for buffer in recorded.buffers:
        parallel, faster_parallel = sides.parallel(buffer, mappings)
        one_by_one = sum(naive[place] for place in buffer.launches) + sum(drawn[k].naive for k in buffer.draws)
        buffers.append((buffer, parallel, microseconds(one_by_one, asked), _names(faster_parallel, asked)))
    totals, quicker = zip(*(sides.parallel(part, mappings) for part in parallel_parts(recorded.buffers)), strict=True)
    total = sum(totals)
    factor = _recorded_factor(recorded_test(recorded), total)
    test = mappings.test(factor * total)
    naive_total = sum(each[2] for each in buffers)
    units = _names({name: sum(each[name] for each in quicker) for name in sides.names}, asked)
    bad = np.zeros(len(asked), bool)
    bad[[place for each in (*refused, *refused_draws) for place in each]] = True
    score = np.where(bad, np.nan, test[0] / test)
    launches = tuple(
        LaunchPrediction(
            each.launch,
            each.kernel,
            times[place][1:],
            naive[place][1:],
            _names({name: rows[place][1:] for name, rows in faster.items()}, asked)[1:],
            _without_reference(refused[place]),
            each.cycles / recorded.reference.clock_mhz,
            float(microseconds(naive[place], asked)[0]),
        )
        for place, each in enumerate(recorded.launches)
    )
    draws = tuple(
        DrawPrediction(
            each.draw,
            each.name,
            cycles.cycles[1:],
            cycles.rule[1:],
            cycles.naive[1:],
            _names(cycles.cycles_with_twice, asked)[1:],
            _without_reference(refused_draws[place]),
            each.logged_cycles / recorded.reference.clock_mhz,
            float(microseconds(cycles.naive, asked)[0]),
            float(microseconds(cycles.rule, asked)[0]),
        )
        for place, (each, cycles) in enumerate(zip(recorded.draws, drawn, strict=True))
    )
    return Prediction(
        chips,
        recorded,
        launches,
        draws,
        tuple(Level(b.name, b.launches, b.draws, us[1:], n[1:], u[1:]) for b, us, n, u in buffers),
        Level("test", tuple(range(len(launches))), tuple(range(len(draws))), test[1:], naive_total[1:], units[1:]),
        score[1:],
        (naive_total[0] / naive_total)[1:],
    )


@dataclass(frozen=True)
class _Sides:
    """Sums of launches and draws beside each other. Twice the rate of a launch's unit shortens launches, twice that of
    a draw's unit draws, twice that of memory both.
    """

    recorded: Recorded
    chips: Numbers
    times: Sequence[np.ndarray]
    drawn: Sequence[DrawCycles]
    twice: dict[str, Numbers]
    faster: dict[str, list[np.ndarray]]

    @property
    def names(self) -> tuple[str, ...]:
        """Of what is doubled; nothing where nobody asked for bottlenecks."""
        return tuple(dict.fromkeys((*self.twice, *(DOUBLED if self.drawn and self.drawn[0].twice else ()))))

    def parallel(self, buffer: Buffer, mappings: Mappings) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Microseconds, and those with each of `names` doubled."""
        modelled = serial(buffer, self.times, [each.passed for each in self.drawn], self.chips)
        factor = _recorded_factor(recorded_buffer(self.recorded, buffer), modelled)
        faster = {name: mappings.buffer(factor * self._with_twice(buffer, name)) for name in self.names}
        return mappings.buffer(factor * modelled), faster

    def _with_twice(self, buffer: Buffer, name: str) -> np.ndarray:
        draws = [each.twice.get(name, each.passed) for each in self.drawn]
        if name in self.twice and buffer.launches:  # draws launch no grids
            return serial(buffer, [row[1:] for row in self.faster[name]], draws, self.twice[name])
        return serial(buffer, self.times, draws, self.chips)


def _without_reference(refused: dict[int, str]) -> dict[int, str]:
    """By place among the chips that are asked for."""
    return {chip - 1: text for chip, text in refused.items() if chip}


def joined_predictions(parts: Sequence[Prediction]) -> Prediction:
    """Of the chips of all parts, one after the other; all of one recording."""
    offsets = np.cumsum([0, *(len(part.chips) for part in parts)]).tolist()

    def whole(each: Sequence[LaunchPrediction] | Sequence[DrawPrediction]) -> LaunchPrediction | DrawPrediction:
        refused = {
            chip + offset: text
            for one, offset in zip(each, offsets, strict=False)
            for chip, text in one.refused.items()
        }
        columns = [name for name, value in vars(each[0]).items() if isinstance(value, np.ndarray)]
        joined_columns = {name: np.concatenate([getattr(one, name) for one in each]) for name in columns}
        return replace(each[0], **joined_columns, units=_chained(each), refused=refused)

    def level(each: Sequence[Level]) -> Level:
        us, naive = (np.concatenate(rows) for rows in zip(*((e.microseconds, e.naive) for e in each), strict=True))
        return replace(each[0], microseconds=us, naive=naive, units=_chained(each))

    first = parts[0]
    return Prediction(
        joined([part.chips for part in parts]),
        first.recorded,
        tuple(whole(each) for each in zip(*(part.launches for part in parts), strict=True)),
        tuple(whole(each) for each in zip(*(part.draws for part in parts), strict=True)),
        tuple(level(each) for each in zip(*(part.buffers for part in parts), strict=True)),
        level([part.test for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.naive_score for part in parts]),
    )


def _chained(parts: Sequence[LaunchPrediction | DrawPrediction | Level]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(part.units for part in parts))


def _cycles(recorded: Recorded, chips: Numbers, done: Callable[[int], None] = _nobody) -> list[np.ndarray]:
    """Of each launch, on `chips`, of which the first is the reference chip."""
    found = [np.empty(len(chips)) for _ in recorded.launches]
    reference = chips.part(0, 1)
    for first in range(0, len(chips), AT_A_TIME):
        part = joined([reference, chips.part(first, first + AT_A_TIME)])
        for place, counters in enumerate(recorded.launches):
            found[place][first : first + AT_A_TIME] = launch_cycles(Work(counters, part))[1:]
        done(min(first + AT_A_TIME, len(chips)) - 1)
    return found


def launch_cycles(work: Work) -> np.ndarray:
    """The modelled cycles, and as many more as the recorded waves of the reference chip took beside the model: what
    overlaps less than all, mostly as blocks start and end. A launch that becomes shorter has its share of them.
    """
    found = model(work)
    blocks = found.cycles - found.start
    beside = work.counters.cycles - found.start[0] - blocks[0]
    return np.maximum(found.start, found.cycles + beside * np.minimum(1, blocks / blocks[0]))


def _recorded_factor(microseconds_there: float, modelled: np.ndarray) -> float:
    """By how much more than the sum the reference chip took: less than 1 where streams overlapped."""
    return microseconds_there / modelled[0]


def _names(faster: dict[str, np.ndarray], chips: Numbers) -> tuple[str, ...]:
    """The unit whose doubled rate leaves the least, by chip."""
    return bottlenecks(faster) if faster else ("",) * len(chips)
