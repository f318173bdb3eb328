"""The mix of a launch as the model has it, beside the report's.

A card's sampler takes one warp of an SM in an interval: a sample weighs a cycle of an SM, and not of a warp. So the
model samples one random warp of each SM, too.
"""

import csv
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpuprof.isa.stalls import NAMES
from gpuprof.records.reader import read_recording
from gpuprof.records.writer import RecordWriter
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.tables.samples import STALL_MASK
from gpuprof.timing.sampling.configuration import Sampling
from tests.silicon.cards import card
from tests.silicon.mixes.cases import N_ROWS, PER_ROW, Case
from tests.silicon.mixes.lines import Lines, first_line, line_of, lines_of_reports
from tests.silicon.run import carry_out
from tests.support.running import Results

FOLDER = Path(__file__).parent
SAMPLED = Sampling(32, "random", drain_cycles=1)


class Mix(NamedTuple):
    """Shares of the samples by stall reason; each sums to 1, up to the published digits."""

    published: dict[str, float]
    model: dict[str, float]
    cycles: int

    @property
    def distance(self) -> float:
        """Half the sum of the absolute differences: the share of samples that have another reason."""
        return sum(abs(self.published[name] - self.model[name]) for name in NAMES) / 2

    @property
    def same_largest(self) -> bool:
        return largest(self.published) == largest(self.model)


def largest(shares: dict[str, float]) -> str:
    return max(NAMES, key=shares.__getitem__)


@cache
def reports() -> dict[str, dict[str, str]]:
    """The rows of published.csv by id."""
    with (FOLDER / "published.csv").open() as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def measure(case: Case, compiler: str = "clang") -> tuple[Mix, Lines]:
    """Runs the case's launch with cold caches: its samples by reason and by line."""
    report = reports()[case.id]
    chip = card(report["card"], float(report["clock_mhz"]), case.parts)
    with tempfile.TemporaryDirectory() as folder:
        _write_sparse_matrix(Path(folder))
        recording = Path(folder) / "mix.gprec"
        results = Results()
        with RecordWriter(recording) as recorder:
            device = open_device(Settings(chip=chip, sampling=SAMPLED, recorder=recorder, observer=results))
            carry_out(device, FOLDER / case.file, (case.launch,), compiler, Path(folder))
        samples = read_recording(recording).launches[0].samples
    reasons = (samples["stall_sm"] & STALL_MASK).astype(np.int64)
    first = np.log2(reasons & -reasons).astype(int)  # the lowest bit: the reasons are in the order of their priority
    counts = np.bincount(first, minlength=len(NAMES))
    model = dict(zip(NAMES, (counts / counts.sum()).tolist(), strict=True))
    launch = results.launches[0]
    mix = Mix({name: float(report[name]) for name in NAMES}, model, launch.timing.cycles)
    start = first_line((FOLDER / case.file).read_text(), launch.launch.function.display)
    found = Counter(
        line_of(launch.launch, case.file, pc, reason) for pc, reason in zip(samples["pc"], first, strict=True)
    )
    return mix, Lines(lines_of_reports()[case.id], {line - start + 1: n for line, n in found.items()})


def _write_sparse_matrix(folder: Path) -> None:
    """PER_ROW numbers in each row, in the columns from the diagonal on."""
    np.save(folder / "first.npy", np.arange(N_ROWS + 1, dtype=np.int32) * PER_ROW)
    columns = (np.arange(N_ROWS)[:, None] + np.arange(PER_ROW)) % N_ROWS
    np.save(folder / "column.npy", columns.astype(np.int32).ravel())
