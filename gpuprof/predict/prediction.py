"""Predictions of one recording for many chips: launches, draws, command buffers, the test, its score, and their
bottlenecks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from gpuprof.predict.bottleneck import UNITS, with_twice
from gpuprof.predict.chip_numbers import Numbers, joined, numbers_of
from gpuprof.predict.command_buffers import microseconds, parallel_parts, recorded_buffer, recorded_test, serial
from gpuprof.predict.draws.cycles import DrawCycles, cycles_of_draws
from gpuprof.predict.draws.draw_bottleneck import DOUBLED, bottlenecks
from gpuprof.predict.draws.draw_stages import refusals_of_draw
from gpuprof.predict.launch import model, naive_cycles
from gpuprof.predict.launch_refusal import refusals
from gpuprof.predict.mapping import IDENTITIES, Mappings
from gpuprof.predict.recorded import Buffer, Recorded
from gpuprof.predict.work import Work

AT_A_TIME = 512  # chips: their rows of stalls stay in the processor's cache


@dataclass(frozen=True)
class LaunchPrediction:
    """Arrays are (chips,). `units` names each chip's bottleneck, "" if it was not requested. `refused`: by the chip's
    index, why it cannot run the launch. `recorded` and `naive_of_reference`: microseconds on the reference chip.
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
    """Like LaunchPrediction, for a draw; `units` are those of draws (draws.draw_bottleneck). `rule_cycles`: cycles by
    the published rules only, and `rule_of_reference`: their microseconds on the reference chip.
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


One = LaunchPrediction | DrawPrediction


@dataclass(frozen=True)
class Level:
    """A command buffer, or the whole test: microseconds, float64 (chips,)."""

    name: str
    launches: tuple[int, ...]  # indices
    draws: tuple[int, ...]
    microseconds: np.ndarray
    naive: np.ndarray
    units: tuple[str, ...]


@dataclass(frozen=True)
class Prediction:
    """`score`: speed of each chip relative to the reference chip; NaN where it cannot run a launch."""

    chips: Numbers
    recorded: Recorded
    launches: tuple[LaunchPrediction, ...]
    draws: tuple[DrawPrediction, ...]
    buffers: tuple[Level, ...]
    test: Level
    score: np.ndarray
    naive_score: np.ndarray


def _ignored(points: int) -> None:
    pass


def predicted(
    recorded: Recorded,
    chips: Numbers,
    mappings: Mappings = IDENTITIES,
    with_units: bool = True,
    done: Callable[[int], None] = _ignored,
) -> Prediction:
    """The prediction of a recording for `chips`. `with_units` adds the bottlenecks, which take as long again for each
    of bottleneck.UNITS where there are launches. `done` is called with the number of points so far.
    """
    reference = numbers_of([recorded.reference])
    all_chips = joined([reference, chips])
    times = _cycles(recorded, all_chips, _ignored if recorded.draws else done)
    drawn = cycles_of_draws(recorded.draws, all_chips, with_units, AT_A_TIME, done if recorded.draws else _ignored)
    twice = {name: with_twice(all_chips, name) for name in UNITS} if with_units and recorded.launches else {}
    faster = {name: _cycles(recorded, joined([reference, each])) for name, each in twice.items()}
    sides = _Sides(recorded, all_chips, times, drawn, twice, faster)
    naive = [naive_cycles(each, all_chips) for each in recorded.launches]
    refused = [refusals(Work(each, all_chips)) for each in recorded.launches]
    refused_draws = [refusals_of_draw(each, all_chips) for each in recorded.draws]
    buffers = []
    for buffer in recorded.buffers:
        parallel, faster_parallel = sides.parallel(buffer, mappings)
        one_by_one = sum(naive[place] for place in buffer.launches) + sum(drawn[k].naive for k in buffer.draws)
        buffers.append((buffer, parallel, microseconds(one_by_one, all_chips), _names(faster_parallel, all_chips)))
    totals, quicker = zip(*(sides.parallel(part, mappings) for part in parallel_parts(recorded.buffers)), strict=True)
    total = sum(totals)
    factor = _recorded_factor(recorded_test(recorded), total)
    test = mappings.test(factor * total)
    naive_total = sum(each[2] for each in buffers)
    units = _names({name: sum(each[name] for each in quicker) for name in sides.names}, all_chips)
    bad = np.zeros(len(all_chips), bool)
    bad[[place for each in (*refused, *refused_draws) for place in each]] = True
    score = np.where(bad, np.nan, test[0] / test)
    launches = tuple(
        LaunchPrediction(
            each.launch,
            each.kernel,
            times[place][1:],
            naive[place][1:],
            _names({name: rows[place][1:] for name, rows in faster.items()}, all_chips)[1:],
            _without_reference(refused[place]),
            each.cycles / recorded.reference.clock_mhz,
            float(microseconds(naive[place], all_chips)[0]),
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
            _names(cycles.cycles_with_twice, all_chips)[1:],
            _without_reference(refused_draws[place]),
            each.logged_cycles / recorded.reference.clock_mhz,
            float(microseconds(cycles.naive, all_chips)[0]),
            float(microseconds(cycles.rule, all_chips)[0]),
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
    """Sums of launches and of draws, which run side by side. Doubling a launch's unit shortens launches, doubling a
    draw's unit draws, and doubling memory both.
    """

    recorded: Recorded
    chips: Numbers
    times: Sequence[np.ndarray]
    drawn: Sequence[DrawCycles]
    twice: dict[str, Numbers]
    faster: dict[str, list[np.ndarray]]

    @property
    def names(self) -> tuple[str, ...]:
        """The units that are doubled; none if bottlenecks were not requested."""
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
    """Refusals by index among the requested chips."""
    return {chip - 1: text for chip, text in refused.items() if chip}


def joined_predictions(parts: Sequence[Prediction]) -> Prediction:
    """One prediction for the chips of all parts, in order; all parts are for the same recording."""
    offsets = np.cumsum([0, *(len(part.chips) for part in parts)]).tolist()

    def joined_part(
        parts_of_one: Sequence[LaunchPrediction] | Sequence[DrawPrediction],
    ) -> LaunchPrediction | DrawPrediction:
        refused = {
            chip + offset: text
            for one, offset in zip(parts_of_one, offsets, strict=False)
            for chip, text in one.refused.items()
        }
        columns = [name for name, value in vars(parts_of_one[0]).items() if isinstance(value, np.ndarray)]
        joined_columns = {name: np.concatenate([getattr(one, name) for one in parts_of_one]) for name in columns}
        return replace(parts_of_one[0], **joined_columns, units=_chained(parts_of_one), refused=refused)

    def level(parts_of_one: Sequence[Level]) -> Level:
        us, naive = (
            np.concatenate(rows) for rows in zip(*((e.microseconds, e.naive) for e in parts_of_one), strict=True)
        )
        return replace(parts_of_one[0], microseconds=us, naive=naive, units=_chained(parts_of_one))

    first = parts[0]
    return Prediction(
        joined([part.chips for part in parts]),
        first.recorded,
        tuple(joined_part(parts_of_one) for parts_of_one in zip(*(part.launches for part in parts), strict=True)),
        tuple(joined_part(parts_of_one) for parts_of_one in zip(*(part.draws for part in parts), strict=True)),
        tuple(level(parts_of_one) for parts_of_one in zip(*(part.buffers for part in parts), strict=True)),
        level([part.test for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.naive_score for part in parts]),
    )


def _chained(parts: Sequence[LaunchPrediction | DrawPrediction | Level]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(part.units for part in parts))


def _cycles(recorded: Recorded, chips: Numbers, done: Callable[[int], None] = _ignored) -> list[np.ndarray]:
    """float64 (chips,) for each launch; the first of `chips` is the reference chip."""
    cycles = [np.empty(len(chips)) for _ in recorded.launches]
    reference = chips.part(0, 1)
    for first in range(0, len(chips), AT_A_TIME):
        part = joined([reference, chips.part(first, first + AT_A_TIME)])
        for index, counters in enumerate(recorded.launches):
            cycles[index][first : first + AT_A_TIME] = launch_cycles(Work(counters, part))[1:]
        done(min(first + AT_A_TIME, len(chips)) - 1)
    return cycles


def launch_cycles(work: Work) -> np.ndarray:
    """The modelled cycles, corrected by the cycles that the recorded waves of the reference chip took in addition to
    the model: what overlaps only in part, mostly as blocks start and end. A launch that becomes shorter has its share
    of them.
    """
    modelled = model(work)
    blocks = modelled.cycles - modelled.start
    correction = work.counters.cycles - modelled.start[0] - blocks[0]
    return np.maximum(modelled.start, modelled.cycles + correction * np.minimum(1, blocks / blocks[0]))


def _recorded_factor(microseconds_there: float, modelled: np.ndarray) -> float:
    """The recorded time of the reference chip over the modelled sum: less than 1 where streams overlapped."""
    return microseconds_there / modelled[0]


def _names(faster: dict[str, np.ndarray], chips: Numbers) -> tuple[str, ...]:
    """The unit with the least time when doubled, for each chip."""
    return bottlenecks(faster) if faster else ("",) * len(chips)
