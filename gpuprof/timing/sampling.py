"""How the sampler is set."""

from dataclasses import dataclass

from gpuprof.errors import UsageError
from gpuprof.timing.filter import ALL, Filter

MIN_PERIOD_CYCLES, MAX_PERIOD_CYCLES = 1 << 5, 1 << 31
STREAMS = ("aux", "lsu")
BUFFER_NBYTES = 512 << 20  # CUPTI's default: CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE
MAX_BUFFER_NBYTES = 8 << 30  # of the addresses kept free for it
MODES = ("random", "all")


@dataclass(frozen=True)
class Sampling:
    """One trace cell per SM. Every `period_cycles` cycles of the GPU's clock it records one random resident warp, or all of them.

    What does not pass the `filter` is not due.

    Records of `record_nbytes` go through a FIFO of `fifo_depth` entries that drains one every `drain_cycles` (0: the chip's own number), over
    a port of its own (`stream` "aux") or as stores of the SM ("lsu"), into an event buffer of `buffer_nbytes` that all SMs share and that a
    worker on the host empties every `poll_cycles` (0: as often as CUPTI's workers wake up). What does not fit is dropped and counted.
    Raises UsageError for a setting that no cell has.
    """

    period_cycles: int = 0  # 0: off
    mode: str = "random"
    seed: int = 0
    fifo_depth: int = 16
    drain_cycles: int = 0
    filter: Filter = ALL
    stream: str = "aux"
    buffer_nbytes: int = BUFFER_NBYTES
    poll_cycles: int = 0
    record_nbytes: int = 32

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
        if self.stream not in STREAMS:
            raise UsageError(f"sampling stream {self.stream!r}: it must be one of {', '.join(STREAMS)}")
        if not self.record_nbytes <= self.buffer_nbytes <= MAX_BUFFER_NBYTES:
            raise UsageError(
                f"sampling buffer of {self.buffer_nbytes} bytes: it must hold at least one record ({self.record_nbytes} bytes) "
                f"and at most {MAX_BUFFER_NBYTES >> 30} GiB"
            )
        if self.poll_cycles < 0:
            raise UsageError(f"sampling buffer emptied every {self.poll_cycles} cycles: it cannot be negative")
