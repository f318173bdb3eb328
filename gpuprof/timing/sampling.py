"""How the sampler is set."""

from dataclasses import dataclass

from gpuprof.errors import UsageError
from gpuprof.timing.filter import ALL, Filter

MIN_PERIOD_CYCLES, MAX_PERIOD_CYCLES = 1 << 5, 1 << 31
MODES = ("random", "all")


@dataclass(frozen=True)
class Sampling:
    """One trace cell per SM. Every `period_cycles` cycles of the GPU's clock it records one random resident warp, or all of them.

    Records go through a FIFO of `fifo_depth` entries that drains one every `drain_cycles` (0: the chip's own number); what does not
    fit is dropped and counted. What does not pass the `filter` is not due. Raises UsageError for a setting that no cell has.
    """

    period_cycles: int = 0  # 0: off
    mode: str = "random"
    seed: int = 0
    fifo_depth: int = 16
    drain_cycles: int = 0
    filter: Filter = ALL

    def __post_init__(self):
        if self.period_cycles and not MIN_PERIOD_CYCLES <= self.period_cycles <= MAX_PERIOD_CYCLES:
            raise UsageError(
                f"sampling period {self.period_cycles}: it must be 0 (off) or {MIN_PERIOD_CYCLES} to {MAX_PERIOD_CYCLES} cycles"
            )
        if self.mode not in MODES:
            raise UsageError(f"sampling mode {self.mode!r}: it must be one of {', '.join(MODES)}")
        if not 1 <= self.fifo_depth <= 4096:
            raise UsageError(f"sampling FIFO of {self.fifo_depth} records: it must have 1 to 4096")
        if self.drain_cycles < 0:
            raise UsageError(f"sampling drain of {self.drain_cycles} cycles per record: it cannot be negative")
