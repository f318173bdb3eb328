"""Samples by line: lines.csv has those of the reports, at the lines of the kernels here that stand for theirs.

The reports hold samples by address, and the machine code. Each instruction was given the line that nvcc 13.0's code
of our kernel has for it, the two pieces of code being laid side by side by their opcodes: in some two thirds of the
33 both have almost the same. Of the two buffered products and `three_sines` the report has lines of its own, which
were paired with ours by hand. A line counts from the kernel's first, so that the file may grow above it.

On cards a warp that waits at a barrier, or for its last stores, stands at the instruction behind.
"""

import csv
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpuprof.device.commands import Launch
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.report.attribution import SHOWN_AFTER

TABLE = Path(__file__).parent / "lines.csv"


class Lines(NamedTuple):
    """Samples by line of the kernel, the first being 1."""

    published: dict[int, int]
    model: dict[int, int]

    @property
    def same_hottest(self) -> bool:
        return self.hottest(self.published) == self.hottest(self.model)

    @property
    def rank_correlation(self) -> float:
        """Spearman's, over all lines that have samples in either."""
        lines = sorted(self.published.keys() | self.model.keys())
        if len(lines) < 2:
            return 1.0
        both = [ranks([samples.get(line, 0) for line in lines]) for samples in self]
        if not all(np.ptp(each) for each in both):
            return 0.0
        return float(np.corrcoef(*both)[0, 1])

    @staticmethod
    def hottest(samples: dict[int, int]) -> int:
        return max(samples, key=samples.__getitem__)


def ranks(values: Sequence[int]) -> np.ndarray:
    """The place of each in ascending order; equal ones have the mean of their places."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


@cache
def lines_of_reports() -> dict[str, dict[int, int]]:
    """Samples by line of each launch of lines.csv."""
    found: dict[str, dict[int, int]] = {}
    with TABLE.open() as file:
        for row in csv.DictReader(file):
            found.setdefault(row["id"], {})[int(row["line"])] = int(row["samples"])
    return found


def first_line(text: str, kernel: str) -> int:
    """Where `kernel` (without its template's arguments) begins in a source."""
    (start,) = re.finditer(rf"__global__ void {kernel.partition('<')[0]}\b", text)
    return text.count("\n", 0, start.start()) + 1


def line_of(launch: Launch, file: str, pc: int, reason: int) -> int:
    """The line of `file` at which a card shows a sample of the warp that stands at `pc` for `reason`."""
    program, function = launch.module.program, launch.function
    index = (pc - launch.module.load_base) // INSTRUCTION_NBYTES
    if reason in SHOWN_AFTER:
        index = min(index + 1, function.first + function.count - 1)
    location = program.locations[index]
    while location.inlined_at is not None:
        location = location.inlined_at
    assert location.file.endswith(file), location
    return location.line
