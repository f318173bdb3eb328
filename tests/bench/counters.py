"""What counters of blocks and waves cost: collecting with them against the same without, by turns. Not a test: `make
bench` calls `share`.
"""

import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from gpuprof.device.launching.launch_text import find_launch_comments, kernel_names, parse_launch
from gpuprof.device.requests import run_requests
from gpuprof.records.writer import RecordWriter
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.timing.sampling.configuration import Sampling
from tests.paths import ROOT

ROUNDS = 3
SAMPLES = ("matmul.cu", "transpose.cu", "reduction.cu")
PERIOD_CYCLES = 512


def share(sample: str, *counters: str) -> float:
    """The share of the processor's time that collecting a sample takes more with counters: the median of rounds."""
    with TemporaryDirectory() as folder:
        pairs = [(_seconds(Path(folder), sample), _seconds(Path(folder), sample, *counters)) for _ in range(ROUNDS + 1)]
    return statistics.median(counted / plain for plain, counted in pairs[1:]) - 1


def _seconds(folder: Path, sample: str, *counters: str) -> float:
    path = ROOT / "samples" / sample
    requests = [parse_launch(text) for _, text in find_launch_comments(path.read_text())]
    with RecordWriter(folder / "r.gprec") as recorder:
        sampling = Sampling(period_cycles=PERIOD_CYCLES, counters=counters)
        device = open_device(Settings(recorder=recorder, sampling=sampling))
        module = device.load(path, instantiate=kernel_names(requests))
        start = time.process_time()
        run_requests(device, module, requests, folder=path.parent)
        return time.process_time() - start


if __name__ == "__main__":
    for name in SAMPLES:
        blocks, waves = share(name, "blocks"), share(name, "waves")
        print(f"{name:14s} {100 * blocks:+5.1f} % with blocks, {100 * waves:+5.1f} % with waves", flush=True)
