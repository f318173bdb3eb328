"""What checkers take of the kernels of samples/: warp instructions that are emulated and checked in a second of CPU
time. The goal is 2 M, of racecheck 1 M. Not a test: `make bench` calls `slowest`.

Run `python -m tests.bench.checkers [CHECKER ...]` for all kernels; without one, those of all checkers. `undefined` is
initcheck where no byte of memory has a value. Of racecheck it also says how many bytes are kept for each that is
touched (`race_shadow`).
"""

import gc
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.device.launching.launch_requests import command_line_requests, comment_requests
from gpuprof.device.launching.launch_text import kernel_names
from gpuprof.device.requests import run_requests
from gpuprof.run import session
from gpuprof.run.launching import launcher
from gpuprof.run.observers.tracing import Attached
from gpuprof.run.run_settings import Settings
from gpuprof.trace.checkers.checker import Checker
from gpuprof.trace.checkers.initcheck import Initcheck
from gpuprof.trace.find import CHECKERS, find
from gpuprof.trace.kernel import Kernel
from tests.bench import race_shadow
from tests.bench.launches import LAUNCHES
from tests.paths import SAMPLES

REPEATS = 3


class Undefined(Initcheck):
    """All global memory is undefined when a kernel begins."""

    def initialize(self, kernel: Kernel) -> None:
        for each in kernel.allocations:
            self.shadow.undefine(each.address, each.nbytes)
        super().initialize(kernel)


class Rate(NamedTuple):
    kernel: str
    file: str
    warp_instructions_per_second: float


def rates(*checkers: str) -> Iterator[Rate]:
    """Of each kernel of the samples the best of several runs, the first left out: it compiles."""
    for path in sorted(SAMPLES.glob("*.cu")):
        best: dict[str, float] = {}
        for repeat in range(REPEATS + 1):
            for kernel, rate in _once(path, checkers).items():
                best[kernel] = max(rate, best.get(kernel, 0)) if repeat else 0
        yield from (Rate(kernel, path.name, rate) for kernel, rate in best.items())


def _once(path, checkers: tuple[str, ...]) -> dict[str, float]:
    """By kernel."""
    emulate, found = launcher.emulate, {}

    def clocked(launch, *given, counters, **options):
        gc.collect()  # what compiling has left: it would be cleared in the midst of some launch
        start = time.thread_time()
        yield from emulate(launch, *given, counters=counters, **options)
        found[launch.function.display] = counters.pulse.warp_instructions / (time.thread_time() - start)

    launcher.emulate = clocked
    try:
        device = session.open_device(Settings(is_timed=False, traces=tuple(Attached(_made(name)) for name in checkers)))
        requests = command_line_requests(LAUNCHES.get(path.name, ())) or comment_requests(path)
        module = device.load(path, instantiate=kernel_names(requests))
        run_requests(device, module, requests, seed=0, folder=path.parent)
    finally:
        launcher.emulate = emulate
    return found


def _made(name: str) -> Checker:
    return Undefined() if name == "undefined" else find(name)()


def slowest(checker: str) -> Rate:
    return min(rates(checker), key=lambda each: each.warp_instructions_per_second)


if __name__ == "__main__":
    for checker in sys.argv[1:] or (*CHECKERS, "undefined"):
        for kernel, file, rate in rates(checker):
            print(f"{checker:10} {file:15} {kernel:15} {rate / 1e6:6.2f} M warp-instructions/s", flush=True)
        if checker == "racecheck":
            for line in race_shadow.lines():
                print(line, flush=True)
