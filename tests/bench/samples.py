"""Speed of the emulator on the kernels of samples/, and of emulation and timing at once. Not a test: `make bench` calls
these.

Run `python -m tests.bench.samples` for all kernels.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gpuprof.run.launching import launcher
from gpuprof.timing.sampling.configuration import Sampling
from tests.paths import SAMPLES
from tests.support.running import run_file


class Emulated(NamedTuple):
    kernel: str
    warp_instructions: int
    seconds: float  # CPU time of the emulator's thread: what the timing model does meanwhile is not in it

    @property
    def rate(self) -> float:
        return self.warp_instructions / self.seconds


@contextmanager
def clocked() -> Iterator[list[Emulated]]:
    """Inside, the list gets an entry for each launch that a session emulates."""
    emulate, done = launcher.emulate, []

    def with_clock(launch, *args, counters, **options):
        seconds, pieces = 0.0, emulate(launch, *args, counters=counters, **options)
        while True:
            began = time.thread_time()
            try:
                piece = next(pieces)
            except StopIteration:
                break
            finally:
                seconds += time.thread_time() - began
            yield piece
        done.append(Emulated(launch.function.display, int(counters.inst_executed.sum()), seconds))

    launcher.emulate = with_clock
    try:
        yield done
    finally:
        launcher.emulate = emulate


def emulation_of(path: Path, *launches: str, repeats: int = 3) -> list[Emulated]:
    """Each kernel of a file: the fastest of several launches, the first of all left out."""
    run_file(path, *launches)
    best: dict[str, Emulated] = {}
    for _ in range(repeats):
        with clocked() as done:
            run_file(path, *launches)
        for each in done:
            best[each.kernel] = max(each, best.get(each.kernel, each), key=lambda one: one.rate)
    return list(best.values())


def slowest_sample() -> tuple[str, float]:
    """The kernel of samples/ that the emulator is slowest on, and its rate: all of them diverge, or make atomics, or
    both.
    """
    rates = {
        f"{each.kernel} of {path.name}": each.rate
        for path in sorted(SAMPLES.glob("*.cu"))
        for each in emulation_of(path)
    }
    return min(rates.items(), key=lambda item: item[1])


MATMUL = "naive<<<(24, 24), (16, 16)>>>(a: f32[384,384]=random, b: f32[384,384]=random, c: f32[384,384], 384)"


def concurrent() -> tuple[float, float]:
    """Warp-instructions per second of a launch that is emulated and timed at once, and its time against that of the
    slower of the two.

    The second is 1 on two idle cores if the faster one never keeps the slower waiting.
    """
    path, sampling = SAMPLES / "matmul.cu", Sampling(1024)
    run_file(path, MATMUL, sampling=sampling)
    with clocked() as done:
        began, busy = time.perf_counter(), time.thread_time()
        run_file(path, MATMUL, sampling=sampling)
        seconds, busy = time.perf_counter() - began, time.thread_time() - busy
    return done[0].warp_instructions / seconds, seconds / max(busy, done[0].seconds)


if __name__ == "__main__":
    for path in sorted(SAMPLES.glob("*.cu")):
        for each in emulation_of(path):
            print(
                f"{path.name:16} {each.kernel:16} {each.warp_instructions:>10,} warp-instructions "
                f"{each.rate / 1e6:8.2f} M/s"
            )
    rate, ratio = concurrent()
    print(
        f"emulation and timing at once: {rate / 1e6:.2f} M warp-instructions/s, {ratio:.2f} times the slower of the two"
    )
