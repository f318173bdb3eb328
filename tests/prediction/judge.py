"""Predictions beside simulations: points of kernels and of tests, each on a chip that nobody fitted anything to."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpuprof.predict.chip_numbers import numbers_of
from gpuprof.predict.mapping import Pair
from gpuprof.predict.prediction import Prediction
from gpuprof.records.writer import RecordWriter
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.timing.sampling.configuration import Sampling
from tests.prediction.chips import PREDICTED, REFERENCE, chip_named
from tests.prediction.corpus import CASES
from tests.prediction.programs import TESTS
from tests.prediction.simulate import CARRIED_OUT
from tests.prediction.stored import BottleneckRow, TruthRow, buffer_cycles, whole_cycles
from tests.support.predictions import predict

FAMILY = {case.name: case.family for case in CASES} | dict.fromkeys(TESTS, "tests")
LAUNCH, BUFFER, TEST = LEVELS = ("launch of a kernel", "command buffer of a test", "test of several launches")
TIE_SHARE = 0.01  # of the time: units whose doubled rates save within this of each other are equally right


class Point(NamedTuple):
    """A kernel's last launch, a command buffer, or a whole test, on a chip. Microseconds; `naive` is the naive method's
    score, times what the reference chip takes. `shares`: what doubling each unit saves in the simulation, None where
    that was not done.
    """

    level: str
    name: str
    family: str
    chip: str
    simulated: float
    predicted: float
    naive: float
    unit: str
    shares: dict[str, float] | None

    @property
    def error(self) -> float:
        """By how much of the simulated time the prediction is off."""
        return abs(self.predicted / self.simulated - 1)

    @property
    def naive_error(self) -> float:
        return abs(self.naive / self.simulated - 1)

    @property
    def is_right(self) -> bool:
        """Whether the named unit saves as much as any, or nothing saves anything; only where units were doubled."""
        assert self.shares is not None, self
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
            shares = {row.launches: row.shares() for row in bottlenecks if (row.name, row.chip) == (name, chip)}
            compare(judged, found, name, place, Simulations(rows[name, chip], rows[name, REFERENCE], shares))
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


class Simulations(NamedTuple):
    """Of a name on a chip, and on the reference chip. `shares`: by a bottleneck's launches."""

    rows: Sequence[TruthRow]
    reference: Sequence[TruthRow]
    shares: dict[str, dict[str, float]]


def compare(judged: Judged, found: Prediction, name: str, place: int, simulated: Simulations) -> None:
    chip = simulated.rows[0].chip
    refused = next((launch.refused[place] for launch in found.launches if place in launch.refused), "")
    if simulated.rows[0].why or refused:
        judged.refusals.append(Refusal(name, chip, simulated.rows[0].why, refused))
    elif name in TESTS:
        test = _test(found, name, place, simulated)
        buffers = [_buffer(found, name, place, number, simulated) for number in range(len(found.buffers))]
        judged.points.extend([test, *buffers])
        judged.tests.append(Pair(test.predicted, test.simulated, chip, name))
        judged.buffers.extend(Pair(point.predicted, point.simulated, chip, name) for point in buffers)
    else:
        judged.points.append(_launch(found, name, place, simulated))


def _launch(found: Prediction, name: str, place: int, simulated: Simulations) -> Point:
    chip, last = chip_named(simulated.rows[0].chip), found.launches[-1]
    naive = float(last.naive_cycles[place]) / chip.clock_mhz / last.naive_of_reference
    return Point(
        LAUNCH,
        name,
        FAMILY[name],
        chip.name,
        whole_cycles(simulated.rows, False) / chip.clock_mhz,
        float(last.cycles[place]) / chip.clock_mhz,
        naive * whole_cycles(simulated.reference, False) / found.recorded.reference.clock_mhz,
        last.units[place],
        simulated.shares.get(""),
    )


def _test(found: Prediction, name: str, place: int, simulated: Simulations) -> Point:
    chip = chip_named(simulated.rows[0].chip)
    of_reference = whole_cycles(simulated.reference, True) / found.recorded.reference.clock_mhz
    return Point(
        TEST,
        name,
        FAMILY[name],
        chip.name,
        whole_cycles(simulated.rows, True) / chip.clock_mhz,
        float(found.test.microseconds[place]),
        of_reference / float(found.naive_score[place]),
        found.test.units[place],
        simulated.shares.get(""),
    )


def _buffer(found: Prediction, name: str, place: int, number: int, simulated: Simulations) -> Point:
    chip, reference, buffer = chip_named(simulated.rows[0].chip), found.recorded.reference, found.buffers[number]
    there = buffer_cycles(simulated.reference, buffer.launches, reference.launch_cycles) / reference.clock_mhz
    naive_there = sum(found.launches[place].naive_of_reference for place in buffer.launches)
    return Point(
        BUFFER,
        name,
        FAMILY[name],
        chip.name,
        buffer_cycles(simulated.rows, buffer.launches, chip.launch_cycles) / chip.clock_mhz,
        float(buffer.microseconds[place]),
        float(buffer.naive[place]) / naive_there * there,
        buffer.units[place],
        simulated.shares.get(" ".join(map(str, buffer.launches))),
    )


def errors_of(points: Sequence[Point]) -> np.ndarray:
    return np.array([point.error for point in points])


def validated_chips(points: Sequence[Point]):
    """The numbers of all chips that are compared, the reference chip first."""
    names = [REFERENCE, *(chip for chip in PREDICTED if any(point.chip == chip for point in points))]
    return numbers_of([chip_named(name) for name in names])
