"""Speed of recordings: samples written, read and correlated, and the memory that takes. Not a test: `make bench` calls
it.

`python -m tests.bench.records N wide|compact` writes N samples of 5,000 instructions, correlates them, and prints MB/s,
s and MiB.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from gpuprof.correlate.correlate import correlate
from gpuprof.isa.stalls import N_REASONS
from gpuprof.records.writer import RecordWriter
from gpuprof.tables.samples import WIDE
from tests.bench.long_run import peak_nbytes
from tests.support.recordings import CHIP, META, launch_fields, saxpy_program, timing, write_gpubin

HANDED_OVER = 50_000  # samples at a time, about what the timing model gives
SMS, PERIOD_CYCLES = 100, 32


def any_samples(n: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    rows = np.zeros(n, WIDE.dtype)
    rows["pc"] = 0x1000 + 16 * rng.integers(0, 5_000, n)
    rows["stall_sm"] = 1 << rng.integers(0, N_REASONS, n)
    rows["flags"] = rng.integers(0, 4, n)
    rows["resident"] = rng.integers(1, 65, n)
    rows["cycle"] = np.arange(n) // SMS * PERIOD_CYCLES
    return rows


def write(path: Path, n: int, record: str) -> float:
    """Seconds until n samples are on disk, as far as the system says so."""
    rows = any_samples(HANDED_OVER)
    began = time.perf_counter()
    with RecordWriter(path, record) as writer:
        writer.meta(META)
        writer.chip(CHIP)
        image = write_gpubin(saxpy_program())
        writer.module(0, name="a.cu", load_base=0x1000, code_nbytes=48, image=image, compiler="c", arch="sm_80")
        writer.launch_begin(launch_fields())
        for first in range(0, n, HANDED_OVER):
            writer.samples(0, rows[: n - first])
            rows["cycle"] += HANDED_OVER // SMS * PERIOD_CYCLES
        writer.launch_end(0, timing(samples_due=n, samples_kept=n))
    return time.perf_counter() - began


def measure(n: int, record: str) -> tuple[float, float, float]:
    """MB/s written, seconds to read and correlate, and the most memory that either took, in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.gprec"
        rate = (seconds := write(path, n, record)) and os.path.getsize(path) / 1e6 / seconds
        began = time.perf_counter()
        correlate(path, path.with_suffix(".gpudb"))
        seconds = time.perf_counter() - began
    return rate, seconds, peak_nbytes() / 2**20


if __name__ == "__main__":
    print(*(f"{value:.4g}" for value in measure(int(sys.argv[1]), sys.argv[2])))
