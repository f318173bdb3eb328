"""Predictions of one recording for many chips: launches, command buffers, the test, its score, and their
bottlenecks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from gpuprof.chips import Chip
from gpuprof.correlate.database import reading
from gpuprof.predict.doubled import UNITS, with_twice
from gpuprof.predict.launch import model
from gpuprof.predict.levels import microseconds, recorded_buffer, recorded_test, serial
from gpuprof.predict.mapping import IDENTITIES, Mappings
from gpuprof.predict.naive import naive_cycles
from gpuprof.predict.numbers import Numbers, joined, numbers_of
from gpuprof.predict.recorded import Recorded, read_recorded
from gpuprof.predict.refuse import refusals
from gpuprof.predict.work import Work

AT_A_TIME = 512  # chips: their rows of stalls stay in the processor's cache


@dataclass(frozen=True)
class LaunchPrediction:
    """Arrays are (chips,). `units` names each chip's bottleneck, "" where nobody asked. `refused`: why a chip cannot
    run it, by its place.
    """

    launch: int
    kernel: str
    cycles: np.ndarray
    naive_cycles: np.ndarray
    units: tuple[str, ...]
    refused: dict[int, str]


@dataclass(frozen=True)
class Level:
    """A command buffer, or the whole test: microseconds, float64 (chips,)."""

    name: str
    launches: tuple[int, ...]  # places
    microseconds: np.ndarray
    naive: np.ndarray
    units: tuple[str, ...]


@dataclass(frozen=True)
class Prediction:
    """`score`: how many times as fast as the reference chip each chip is; NaN where it cannot run a launch."""

    chips: Numbers
    recorded: Recorded
    launches: tuple[LaunchPrediction, ...]
    buffers: tuple[Level, ...]
    test: Level
    score: np.ndarray
    naive_score: np.ndarray
    naive_of_reference: tuple[float, ...]  # microseconds of each launch


def _nobody(points: int) -> None:
    pass


def predict(database: Path, chips: Sequence[Chip], mappings: Mappings = IDENTITIES) -> Prediction:
    """Of a recording or its database. Raises what `reading` and `read_recorded` raise."""
    with reading(database) as db:
        recorded = read_recorded(db)
    return predicted(recorded, numbers_of(chips), mappings)


def predicted(
    recorded: Recorded,
    chips: Numbers,
    mappings: Mappings = IDENTITIES,
    with_units: bool = True,
    done: Callable[[int], None] = _nobody,
) -> Prediction:
    """`with_units`: with the bottlenecks, which takes as long again for each of doubled.UNITS. `done` is told how many
    points there are so far.
    """
    reference = numbers_of([recorded.reference])
    asked = joined([reference, chips])
    times = _cycles(recorded, asked, done)
    twice = {name: with_twice(asked, name) for name in UNITS} if with_units else {}
    faster = {name: _cycles(recorded, joined([reference, each])) for name, each in twice.items()}
    naive = [naive_cycles(each, asked) for each in recorded.launches]
    refused = [refusals(Work(each, asked)) for each in recorded.launches]
    buffers, totals, quicker = [], [], {name: [] for name in faster}
    for buffer in recorded.buffers:
        factor = _recorded_factor(recorded_buffer(recorded, buffer), serial(buffer, times, asked))
        parallel = mappings.buffer(factor * serial(buffer, times, asked))
        sums = {name: serial(buffer, [row[1:] for row in rows], twice[name]) for name, rows in faster.items()}
        totals.append(parallel)
        for name, each in sums.items():
            quicker[name].append(mappings.buffer(factor * each))
        units = _names(sums, asked)
        one_by_one = microseconds(sum(naive[place] for place in buffer.launches), asked)
        buffers.append((buffer, parallel, one_by_one, units))
    total = sum(totals)
    factor = _recorded_factor(recorded_test(recorded), total)
    test = mappings.test(factor * total)
    naive_total = sum(each[2] for each in buffers)
    units = _names({name: sum(rows) for name, rows in quicker.items()}, asked)
    bad = np.zeros(len(asked), bool)
    bad[[place for each in refused for place in each]] = True
    score = np.where(bad, np.nan, test[0] / test)
    launches = tuple(
        LaunchPrediction(
            each.launch,
            each.kernel,
            times[place][1:],
            naive[place][1:],
            _names({name: rows[place][1:] for name, rows in faster.items()}, asked)[1:],
            {chip - 1: text for chip, text in refused[place].items() if chip},
        )
        for place, each in enumerate(recorded.launches)
    )
    return Prediction(
        chips,
        recorded,
        launches,
        tuple(Level(b.name, b.launches, us[1:], n[1:], u[1:]) for b, us, n, u in buffers),
        Level("test", tuple(range(len(launches))), test[1:], naive_total[1:], units[1:]),
        score[1:],
        (naive_total[0] / naive_total)[1:],
        tuple(float(microseconds(each, asked)[0]) for each in naive),
    )


def joined_predictions(parts: Sequence[Prediction]) -> Prediction:
    """Of the chips of all parts, one after the other; all of one recording."""
    offsets = np.cumsum([0, *(len(part.chips) for part in parts)]).tolist()

    def launch(place: int) -> LaunchPrediction:
        each = [part.launches[place] for part in parts]
        refused = {
            chip + offset: text
            for one, offset in zip(each, offsets, strict=False)
            for chip, text in one.refused.items()
        }
        cycles, naive = (np.concatenate(rows) for rows in zip(*((e.cycles, e.naive_cycles) for e in each), strict=True))
        return LaunchPrediction(each[0].launch, each[0].kernel, cycles, naive, _chained(each), refused)

    def level(each: Sequence[Level]) -> Level:
        us, naive = (np.concatenate(rows) for rows in zip(*((e.microseconds, e.naive) for e in each), strict=True))
        return Level(each[0].name, each[0].launches, us, naive, _chained(each))

    first = parts[0]
    return Prediction(
        joined([part.chips for part in parts]),
        first.recorded,
        tuple(launch(place) for place in range(len(first.launches))),
        tuple(level(each) for each in zip(*(part.buffers for part in parts), strict=True)),
        level([part.test for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.naive_score for part in parts]),
        first.naive_of_reference,
    )


def _chained(parts: Sequence[LaunchPrediction | Level]) -> tuple[str, ...]:
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
    if not faster:
        return ("",) * len(chips)
    names = list(faster)
    return tuple(names[place] for place in np.argmin([faster[name] for name in names], 0).tolist())
