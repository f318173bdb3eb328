"""How the sampler is set."""

from dataclasses import dataclass

from gpuprof.errors import UsageError
from gpuprof.timing.sampling.filter import ALL, Filter
from gpuprof.timing.sampling.triggers import CYCLES, NAMES

MIN_PERIOD_CYCLES, MAX_PERIOD_CYCLES = 1 << 5, 1 << 31
STREAMS = ("aux", "lsu")
BUFFER_NBYTES = 512 << 20  # CUPTI's default: CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE
MODES = ("random", "round-robin", "all", "stalled", "trigger")
RANDOM, ROUND_ROBIN, ALL_WARPS, STALLED, BY_TRIGGER = range(5)
STALL_FIELDS = ("vector", "index")
MAX_SEED = (1 << 63) - 1
MAX_FIFO_DEPTH = 4096
MAX_DRAIN_CYCLES = MAX_POLL_CYCLES = 1 << 40
MIN_BUFFER_NBYTES, MAX_BUFFER_NBYTES = 32, 8 << 30  # a wide record; the addresses reserved for it
# Sets of performance counters that a row of tables.samples.SAMPLED_COUNTERS may hold; those not chosen are
# zero.
COUNTERS = {
    "issued": ("issued",),
    "eligible": ("eligible",),
    "active": ("active",),
    "pipes": ("pipes_busy",),
    "l1": ("l1_sectors", "l1_hits"),
    "l2": ("l2_sectors", "l2_hits"),
    "dram": ("dram_nbytes",),
}
# Sets of exact counters, which are not sampled: a row for each block, and one for each warp.
EXACT_COUNTERS = ("blocks", "waves")


@dataclass(frozen=True)
class Sampling:
    """The settings of the trace cells, one per SM. In every cycle that is `phase_cycles` modulo `period_cycles` of the
    GPU's clock, or with every `every`-th event of kind `trigger` (the phase is then one of events), it records

    * random: one random resident warp;
    * round-robin: the warp in one slot, the next one each time, if there is one in it;
    * all: every resident warp;
    * stalled: of each partition that issued nothing, one random resident warp;
    * trigger: the warp whose event it was;

    of the SM, or of its partition number `partition`. The stall field is a vector of all reasons, or the index of the
    first one.

    What does not pass the `filter` is not due.

    Records go through a FIFO of `fifo_depth` entries that drains one every `drain_cycles` (0: the chip's own number),
    over a port of its own (`stream` "aux") or as stores of the SM ("lsu"), into an event buffer of `buffer_nbytes` that
    all SMs share and that a worker on the host empties every `poll_cycles` (0: as often as CUPTI's workers wake up).
    What does not fit is dropped and counted.
    Raises UsageError for a setting that no cell has.
    """

    period_cycles: int = 0  # 0: off, or found by `auto_period`
    mode: str = "random"
    seed: int = 0
    fifo_depth: int = 16
    drain_cycles: int = 0
    filter: Filter = ALL
    stream: str = "aux"
    buffer_nbytes: int = BUFFER_NBYTES
    poll_cycles: int = 0
    trigger: str = CYCLES
    every: int = 0  # events
    phase_cycles: int = 0
    partition: int = -1  # -1: all
    stall: str = "vector"
    auto_period: int = 0  # 1: the shortest period at which nothing is lost (timing.auto)
    # of COUNTERS, recorded with the samples of a cycle, and of EXACT_COUNTERS
    counters: tuple[str, ...] = ()

    @property
    def is_on(self) -> bool:
        return bool(self.every or self.period_cycles or self.auto_period)

    @property
    def sampled_counters(self) -> tuple[str, ...]:
        return tuple(name for name in self.counters if name in COUNTERS)

    @property
    def counts_blocks(self) -> bool:
        """True when blocks are counted, also when only waves are requested, which are parts of blocks."""
        return any(name in EXACT_COUNTERS for name in self.counters)

    @property
    def counts_warps(self) -> bool:
        return "waves" in self.counters

    def __post_init__(self):
        self._check_trigger()
        if self.period_cycles and not MIN_PERIOD_CYCLES <= self.period_cycles <= MAX_PERIOD_CYCLES:
            raise UsageError(
                f"sampling period {self.period_cycles}: it must be 0 (off) or {MIN_PERIOD_CYCLES} to "
                f"{MAX_PERIOD_CYCLES} cycles"
            )
        if self.mode not in MODES:
            raise UsageError(f"sampling mode {self.mode!r}: it must be one of {', '.join(MODES)}")
        if not 1 <= self.fifo_depth <= MAX_FIFO_DEPTH:
            raise UsageError(f"sampling FIFO of {self.fifo_depth} records: it must have 1 to {MAX_FIFO_DEPTH}")
        if not 0 <= self.seed <= MAX_SEED:
            raise UsageError(f"sampling seed {self.seed}: it must be 0 to 2^63 - 1")
        if not 0 <= self.drain_cycles <= MAX_DRAIN_CYCLES:
            raise UsageError(
                f"sampling drain of {self.drain_cycles} cycles per record: it must be 1 to 2^40, or 0 for the chip's "
                "own"
            )
        if self.stream not in STREAMS:
            raise UsageError(f"sampling stream {self.stream!r}: it must be one of {', '.join(STREAMS)}")
        if not MIN_BUFFER_NBYTES <= self.buffer_nbytes <= MAX_BUFFER_NBYTES:
            raise UsageError(
                f"sampling buffer of {self.buffer_nbytes} bytes: it must have {MIN_BUFFER_NBYTES}, for one wide "
                "record, "
                f"to {MAX_BUFFER_NBYTES >> 30} GiB"
            )
        if not 0 <= self.poll_cycles <= MAX_POLL_CYCLES:
            raise UsageError(
                f"sampling buffer emptied every {self.poll_cycles} cycles: it must be 1 to 2^40, or 0 for the "
                "default 100 ms"
            )
        if self.partition < -1:
            raise UsageError(f"sampling of partition {self.partition}: partitions count from 0; -1 is all of them")
        if self.stall not in STALL_FIELDS:
            raise UsageError(f"stall field {self.stall!r}: it must be one of {', '.join(STALL_FIELDS)}")

        for name in self.counters:
            if name not in COUNTERS and name not in EXACT_COUNTERS:
                known = ", ".join((*COUNTERS, *EXACT_COUNTERS))
                raise UsageError(f"sampling counter {name!r}: it must be one of {known}")

    def _check_trigger(self) -> None:
        if self.trigger not in NAMES:
            raise UsageError(f"sampling trigger {self.trigger!r}: it must be one of {', '.join(NAMES)}")
        if self.trigger == CYCLES:
            if self.every:
                raise UsageError(f"sampling trigger {self.trigger}: its period is a number of cycles, not of events")
            if self.mode == MODES[BY_TRIGGER]:
                raise UsageError(
                    f"sampling mode {self.mode!r} samples the warp that caused an event; give a trigger, such as "
                    "l1_miss"
                )
        else:
            if self.period_cycles:
                raise UsageError(
                    f"sampling trigger {self.trigger}: it excludes a period in cycles; leave out one of them"
                )
            if not 1 <= self.every <= MAX_PERIOD_CYCLES:
                raise UsageError(
                    f"sampling trigger {self.trigger}:{self.every}: it must be 1 to {MAX_PERIOD_CYCLES} events"
                )
        if self.auto_period and (self.every or self.period_cycles):
            raise UsageError(
                "sampling period auto: it excludes a period in cycles and a trigger of events; leave them out"
            )
        if (
            not 0
            <= self.phase_cycles
            < max(1, self.every or self.period_cycles or self.auto_period * MIN_PERIOD_CYCLES)
        ):
            raise UsageError(f"sampling phase {self.phase_cycles}: it must be 0 or more, and less than the period")
