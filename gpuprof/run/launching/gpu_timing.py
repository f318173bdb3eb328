"""The timing model of one GPU: batches of launches in, their timings and samples out."""

from gpuprof.chips import Chip
from gpuprof.jit.compile_stage import show_compiling
from gpuprof.records.writer import RECORD_NBYTES
from gpuprof.run.launching.sampling_overhead import copy_of, simulate_twice
from gpuprof.timing.auto import simulate_with_period
from gpuprof.timing.batch import Grid
from gpuprof.timing.buffer import Sink
from gpuprof.timing.first_run import Compilation, is_compiled
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.machine import Machine, power_on

NO_LIMIT_CYCLES = 1 << 62  # without a limit of the user's, what the emulator ends is timed to its end


class GpuTiming:
    """`machine`: the GPU's state between batches. record: the kind of samples. sample_blocks: time only as many blocks
    of a launch as show its rate.
    """

    def __init__(self, chip: Chip, record: str, sample_blocks: bool, max_cycles: int | None):
        self.machine = power_on(chip)
        self._record_nbytes, self._sample_blocks = RECORD_NBYTES[record], sample_blocks
        self._max_cycles = max_cycles or NO_LIMIT_CYCLES
        self._undisturbed: Machine | None = None  # a GPU that is not sampled, once sampling disturbs
        show_compiling()
        self._compilation = None if is_compiled() else Compilation()
        self._notice = self._compilation.notice if self._compilation else ""

    def take_notice(self) -> str:
        """A sentence for the user whose first run waits for the compiler, once; "" if there is none."""
        notice, self._notice = self._notice, ""
        return notice

    def wait_until_compiled(self) -> None:
        if self._compilation:
            self._compilation.wait()
            self._compilation = None

    def time(self, grids: list[Grid], sampling: Sampling, sink: Sink) -> list[LaunchTiming]:
        """Times a batch. Once records have passed the load/store unit, everything is timed twice: their effects on
        the caches may show later.
        """
        if self._undisturbed is None and sampling.stream == "lsu" and sampling.is_on:
            # From the first sampled launch on: until then both GPUs have the same caches.
            self._undisturbed = copy_of(self.machine)
        limit, nbytes = self._max_cycles, self._record_nbytes
        if self._undisturbed is not None:
            return simulate_twice(self.machine, self._undisturbed, grids, sampling, sink, limit, nbytes)
        simulate = simulate_with_period if sampling.auto_period else simulate_batch
        return simulate(self.machine, grids, sampling, sink, limit, self._sample_blocks, nbytes)
