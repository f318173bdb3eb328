"""Mapping functions from recordings of the same program on other chips, and their errors on data that they were not
fitted to.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpuprof.correlate.database import reading
from gpuprof.errors import NotComparable
from gpuprof.predict.chip_numbers import numbers_of
from gpuprof.predict.command_buffers import recorded_buffer, recorded_test
from gpuprof.predict.mapping import IDENTITY, Mappings, Pair, errors, fit, leave_one_out
from gpuprof.predict.prediction import predicted
from gpuprof.predict.recorded import Recorded, read_recorded


class Calibrated(NamedTuple):
    mappings: Mappings
    buffers: tuple[Pair, ...]
    tests: tuple[Pair, ...]

    def table(self) -> list[tuple[str, str, int, float]]:
        """(level, mapping, pairs, mean absolute error)."""
        rows = []
        for level, pairs, mapping in (
            ("command buffer", self.buffers, self.mappings.buffer),
            ("test", self.tests, self.mappings.test),
        ):
            kinds = {
                "identity": errors(pairs, IDENTITY),
                "fitted": errors(pairs, mapping),
                "leave one chip out": leave_one_out(pairs, "chip"),
                "leave one test out": leave_one_out(pairs, "test"),
            }
            rows += [(level, kind, len(pairs), float(np.mean(off))) for kind, off in kinds.items()]
        return rows


def calibrated(tests: dict[str, tuple[Recorded, Sequence[Recorded]]]) -> Calibrated:
    """Mappings fitted to tests, by name: a recording on the reference chip, and recordings on chips that were
    simulated.
    """
    buffers, totals = [], []
    for test, (recorded, others) in tests.items():
        for other in others:
            expected = predicted(recorded, numbers_of([other.reference]), with_units=False)
            for level, buffer in zip(expected.buffers, other.buffers, strict=True):
                buffers.append(
                    Pair(float(level.microseconds[0]), recorded_buffer(other, buffer), other.reference.name, test)
                )
            totals.append(Pair(float(expected.test.microseconds[0]), recorded_test(other), other.reference.name, test))
    return Calibrated(Mappings(fit(buffers), fit(totals)), tuple(buffers), tuple(totals))


def read_others(recorded: Recorded, paths: Sequence[Path]) -> list[Recorded]:
    """Recordings of the same launches and draws on other chips. Raises NotComparable for a recording of other launches,
    draws or streams.
    """
    others = []
    for path in paths:
        with reading(path) as db:
            other = read_recorded(db)
        if _launched(other) != _launched(recorded):
            raise NotComparable(f"{path}: has other launches than the recording that is predicted from")
        if _drawn(other) != _drawn(recorded):
            raise NotComparable(f"{path}: has other draws than the recording that is predicted from")
        if other.buffers != recorded.buffers:
            raise NotComparable(f"{path}: has other streams or waits than the recording that is predicted from")
        others.append(other)
    return others


def _launched(recorded: Recorded) -> list[tuple[str, int, int]]:
    return [(counters.kernel, counters.blocks, counters.threads) for counters in recorded.launches]


def _drawn(recorded: Recorded) -> list[tuple[str, dict[str, int]]]:
    return [(draw.name, draw.work) for draw in recorded.draws]
