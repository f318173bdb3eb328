"""Bytes that racecheck keeps for each byte that a kernel touches: stamps, tables of who accessed when, and the state of
the threads that run. The goal is 4.

Kernels of samples/, and kernels whose accesses are of single bytes or scattered, from `byte_kernels.cu`. Bytes of
shared memory count for the blocks that run at one time. Run `python -m tests.bench.race_shadow`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpuprof.device.launching.launch_requests import command_line_requests, comment_requests
from gpuprof.device.launching.launch_text import kernel_names
from gpuprof.device.requests import run_requests
from gpuprof.run.observers.tracing import Attached
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.trace.checkers.racecheck import Racecheck
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.kernel import Kernel
from tests.bench.launches import LAUNCHES
from tests.paths import SAMPLES

FILES = tuple(sorted(SAMPLES.glob("*.cu")))
BYTE_KERNELS = Path(__file__).with_name("byte_kernels.cu")


class Kept(NamedTuple):
    """Of one launch, in bytes: what it touched, and what racecheck had at its end, by what it is (`Shadow.nbytes`)."""

    kernel: str
    touched: int
    shadow: dict[str, int]

    @property
    def ratio(self) -> float:
        return sum(self.shadow.values()) / self.touched


class Counting(Racecheck):
    """Racecheck, with a count of the bytes that are touched."""

    def __init__(self, **options):
        super().__init__(**options)
        self.kept: list[Kept] = []

    def initialize(self, kernel: Kernel) -> None:
        super().initialize(kernel)
        self._first = kernel.allocations[0].address
        self._touched = np.zeros(kernel.allocations[-1].address + kernel.allocations[-1].nbytes - self._first, np.bool_)
        self._of_blocks: dict[int, np.ndarray] = {}
        self._most_shared = 0

    def event(self, event: TraceEvent) -> None:
        for access in event.accesses:
            rows, lanes = np.nonzero(access.active)
            each_byte = access.addresses[rows, lanes][:, None] + np.arange(access.nbytes)
            if access.space == "global":
                self._touched[each_byte - self._first] = True
            elif access.space == "shared":
                self._touch_shared(event.block[rows], each_byte)
        super().event(event)
        running = {block for block, _ in self._blocks.running()}
        if len(running) < len(self._of_blocks):
            self._count_shared()
            self._of_blocks = {block: has for block, has in self._of_blocks.items() if block in running}

    def _touch_shared(self, blocks: np.ndarray, each_byte: np.ndarray) -> None:
        for block in np.unique(blocks).tolist():
            has = self._of_blocks.setdefault(block, np.zeros(self.kernel.shared_nbytes, np.bool_))
            has[each_byte[blocks == block]] = True

    def _count_shared(self) -> None:
        self._most_shared = max(self._most_shared, sum(int(has.sum()) for has in self._of_blocks.values()))

    def finish(self) -> None:
        self._count_shared()
        touched = int(self._touched.sum()) + self._most_shared
        self.kept.append(Kept(self.kernel.name, touched, self._shadow.nbytes))
        super().finish()


def kept(path: Path) -> Iterator[Kept]:
    """Of each launch of a file."""
    counting = Counting()
    device = open_device(Settings(is_timed=False, traces=(Attached(counting),)))
    requests = command_line_requests(LAUNCHES.get(path.name, ())) or comment_requests(path)
    run_requests(device, device.load(path, instantiate=kernel_names(requests)), requests, seed=0, folder=path.parent)
    return iter(counting.kept)


def all_kept(files: Sequence[Path] = (*FILES, BYTE_KERNELS)) -> Iterator[tuple[str, Kept]]:
    for path in files:
        for each in kept(path):
            yield path.name, each


def largest(files: Sequence[Path] = (*FILES, BYTE_KERNELS)) -> Kept:
    return max((each for _, each in all_kept(files)), key=lambda each: each.ratio)


def lines() -> Iterator[str]:
    for file, each in all_kept():
        parts = ", ".join(f"{name} {nbytes / each.touched:.2f}" for name, nbytes in each.shadow.items())
        yield f"{file:15} {each.kernel:18} {each.touched:10,} bytes touched: {each.ratio:5.2f} times ({parts})"


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
