"""Predictions beside simulations: points of kernels and of tests, each on a chip that nobody fitted anything to."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpuprof.predict.mapping import Pair
from gpuprof.predict.numbers import numbers_of
from gpuprof.predict.prediction import Prediction, predict
from gpuprof.records.writer import RecordWriter
from gpuprof.run.session import open_device
from gpuprof.run.settings import Settings
from gpuprof.timing.sampling.configuration import Sampling
from tests.prediction.chips import PREDICTED, REFERENCE, chip_named
from tests.prediction.corpus import CASES
from tests.prediction.programs import TESTS
from tests.prediction.simulate import CARRIED_OUT
from tests.prediction.stored import BottleneckRow, TruthRow, whole_cycles

FAMILY = {case.name: case.family for case in CASES} | dict.fromkeys(TESTS, "tests")
TIE_SHARE = 0.01  # of the time: units whose doubled rates save within this of each other are equally right


class Point(NamedTuple):
    """A kernel's last launch, or a whole test, on a chip. Microseconds; `naive` is the naive method's score, times what
    the reference chip takes. `shares`: what doubling each unit saves in the simulation, none where that was not done.
    """

    name: str
    family: str
    chip: str
    simulated: float
    predicted: float
    naive: float
    unit: str
    shares: dict[str, float]

    @property
    def error(self) -> float:
        """By how much of the simulated time the prediction is off."""
        return abs(self.predicted / self.simulated - 1)

    @property
    def naive_error(self) -> float:
        return abs(self.naive / self.simulated - 1)

    @property
    def is_right(self) -> bool:
        """Whether the named unit saves as much as any, or nothing saves anything."""
        most = max(self.shares.values(), default=0)
        return self.shares.get(self.unit, 0) >= most - TIE_SHARE


class Refusal(NamedTuple):
    """A chip that cannot run a kernel, by the simulation or by the prediction."""

    name: str
    chip: str
    simulated: str
    predicted: str


class Judged(NamedTuple):
    points: list[Point]
    refusals: list[Refusal]
    buffers: list[Pair]
    tests: list[Pair]


def judge(
    folder: Path, names: Sequence[str], truth: Sequence[TruthRow], bottlenecks: Sequence[BottleneckRow]
) -> Judged:
    """Collects the names on the reference chip, into `folder` where they are not there yet, and predicts them for all
    chips that were simulated.
    """
    rows: dict[tuple[str, str], list[TruthRow]] = {}
    for row in truth:
        rows.setdefault((row.name, row.chip), []).append(row)
    shares = {(row.name, row.chip): row.shares() for row in bottlenecks}
    judged = Judged([], [], [], [])
    for name in names:
        chips = [chip for chip in PREDICTED if (name, chip) in rows]
        if not chips or (name, REFERENCE) not in rows:
            continue
        recording = folder / f"{name}.gprec"
        found = predict(
            recording if recording.exists() else collected(recording, name), [chip_named(chip) for chip in chips]
        )
        for place, chip in enumerate(chips):
            _compare(judged, found, name, place, rows[name, chip], rows[name, REFERENCE], shares.get((name, chip), {}))
    return judged


def collected(path: Path, name: str) -> Path:
    """The recording of a name on the reference chip, with all counters that predictions read."""
    with RecordWriter(path) as recorder:
        sampling = Sampling(counters=("waves",))
        chip = chip_named(REFERENCE)
        device = open_device(Settings(chip=chip, recorder=recorder, sampling=sampling, observe=True))
        CARRIED_OUT[name](device)
        device.executor.finish()
    return path


def _compare(
    judged: Judged,
    found: Prediction,
    name: str,
    place: int,
    rows: Sequence[TruthRow],
    reference: Sequence[TruthRow],
    shares: dict[str, float],
) -> None:
    chip = rows[0].chip
    refused = next((launch.refused[place] for launch in found.launches if place in launch.refused), "")
    if rows[0].why or refused:
        judged.refusals.append(Refusal(name, chip, rows[0].why, refused))
        return
    is_test = name in TESTS
    clock, of_reference = chip_named(chip).clock_mhz, whole_cycles(reference, is_test) / chip_named(REFERENCE).clock_mhz
    if is_test:
        predicted, unit, naive = (
            float(found.test.microseconds[place]),
            found.test.units[place],
            found.naive_score[place],
        )
        naive_us = of_reference / float(naive)
    else:
        last = found.launches[-1]
        predicted, unit = float(last.cycles[place]) / clock, last.units[place]
        naive_us = of_reference * float(last.naive_cycles[place]) / clock / found.naive_of_reference[-1]
    simulated = whole_cycles(rows, is_test) / clock
    judged.points.append(Point(name, FAMILY[name], chip, simulated, predicted, naive_us, unit, shares))
    if is_test:
        judged.tests.append(Pair(predicted, simulated, chip, name))
        judged.buffers.extend(_buffers(found, name, place, rows))


def _buffers(found: Prediction, name: str, place: int, rows: Sequence[TruthRow]) -> Iterator[Pair]:
    """Each command buffer from the host's request to the end of its last launch."""
    chip = chip_named(rows[0].chip)
    for buffer in found.buffers:
        launches = [rows[number] for number in buffer.launches]
        cycles = max(row.end_cycle for row in launches) - min(row.start_cycle for row in launches) + chip.launch_cycles
        yield Pair(float(buffer.microseconds[place]), cycles / chip.clock_mhz, chip.name, name)


def errors_of(points: Sequence[Point]) -> np.ndarray:
    return np.array([point.error for point in points])


def validated_chips(points: Sequence[Point]):
    """The numbers of all chips that are compared, the reference chip first."""
    names = [REFERENCE, *(chip for chip in PREDICTED if any(point.chip == chip for point in points))]
    return numbers_of([chip_named(name) for name in names])
