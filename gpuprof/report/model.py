"""A report as plain values: what `queries` gives, `sections` and `triage` read, and the renderers print.

A per-reason tuple has one number for each reason of `isa.stalls.REASONS`, in that order.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from gpuprof.base.cache_control import CacheControl
from gpuprof.base.compared_results import Result
from gpuprof.chips.peaks import Peak
from gpuprof.correlate.api_calls import ApiCall
from gpuprof.correlate.counts import NO_COUNTS, BankPattern, Counters
from gpuprof.correlate.findings import Found
from gpuprof.correlate.frames import Position
from gpuprof.correlate.trace_tables import Traced
from gpuprof.correlate.works import BlockWork
from gpuprof.isa.stalls import INDEX, N_REASONS
from gpuprof.isa.vocabularies import NCU, Vocabulary
from gpuprof.report.tasks.draw_tasks import NO_DRAWS, Draws
from gpuprof.report.tasks.program_time import ProgramTime
from gpuprof.report.tasks.read_tasks import TaskReport

ZEROS = (0,) * N_REASONS
SELECTED = INDEX["selected"]


def ranked(reasons: tuple[int, ...]) -> list[int]:
    """Reason numbers with a count, largest first."""
    return sorted((r for r, n in enumerate(reasons) if n), key=lambda r: (-reasons[r], r))


@dataclass(frozen=True)
class Cost:
    """The cost of a place: samples and exact warp-cycles per reason, and counters."""

    samples: tuple[int, ...] = ZEROS
    not_issued: tuple[int, ...] = ZEROS  # of the samples, those taken while the warp's scheduler issued nothing
    cycles: tuple[int, ...] = ZEROS  # warp-cycles, from the ledger
    counters: Counters = NO_COUNTS
    weights: tuple[int, ...] = ZEROS  # warps that the samples stand for; zeros where the records do not store it

    @cached_property
    def n_samples(self) -> int:
        return sum(self.samples)

    @cached_property
    def warp_cycles(self) -> int:
        return sum(self.cycles)

    @cached_property
    def weight(self) -> int:
        return sum(self.weights)

    @property
    def reasons(self) -> tuple[int, ...]:
        """Exact cycles per reason, or samples per reason where there is no ledger."""
        return self.cycles if self.warp_cycles else self.samples


def total(costs: Iterable[Cost]) -> Cost:
    """The sum of costs."""
    costs = tuple(costs)
    if len(costs) < 2:
        return costs[0] if costs else Cost()
    return Cost(
        tuple(map(sum, zip(*(c.samples for c in costs), strict=True))),
        tuple(map(sum, zip(*(c.not_issued for c in costs), strict=True))),
        tuple(map(sum, zip(*(c.cycles for c in costs), strict=True))),
        Counters(*map(sum, zip(*(c.counters for c in costs), strict=True))),
        tuple(map(sum, zip(*(c.weights for c in costs), strict=True))),
    )


class Stalls(NamedTuple):
    """An instruction's stalls for one reason. `lengths`: (least cycles of a bin: 1, 2, 4, ..., stalls in it),
    ascending, none of them 0.
    """

    reason: int
    stalls: int
    longest_cycles: int
    lengths: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Instruction:
    pc: int
    function: str  # display name of the function whose code it is
    text: str
    opcode: str
    ptx_line: int  # 0 unknown
    space: str
    operation: str
    access_nbytes: int
    positions: tuple[Position, ...]  # innermost first; the last one is in `function` itself
    cost: Cost
    stalls: tuple[Stalls, ...] = ()
    patterns: tuple[BankPattern, ...] = ()  # of an access to shared memory


class Ending(NamedTuple):
    """How a stall ended: the kind of cause (isa.causes), and where it is."""

    kind: str
    label: str
    other_warp: bool
    other_launch: bool
    conflict: bool

    def __str__(self) -> str:
        """ "DRAM, conflict, other warp"."""
        flags = (("conflict", self.conflict), ("other warp", self.other_warp), ("other launch", self.other_launch))
        return ", ".join([self.label, *(word for word, is_set in flags if is_set)])


class Blame(NamedTuple):
    """The causes that ended an instruction's stalls for one reason: rows of the `causes` table, summed up."""

    pc: int
    reason: int
    cause_pc: int
    ending: Ending
    cycles: int
    stalls: int


@dataclass(frozen=True)
class Launch:
    """A row of the `launches` table, and its `launch_metrics` by name."""

    launch: int
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    dynamic_shared_nbytes: int
    stream: int
    task: str  # names of the open tasks, outermost first, joined by /
    start_cycle: int
    end_cycle: int
    cycles: int
    samples_due: int
    samples_kept: int
    samples_dropped: int
    buffer_full: bool
    complete: bool
    metrics: dict[str, int | float | str]
    # registers of the sampler that were other than the header's
    sampling: dict[str, int | str] = field(default_factory=dict)
    sample_weight: int | None = None  # sum of the samples' weights; None where the records do not store them
    effective_samples: float | None = None  # independent samples that would be as sure; None likewise
    operations: dict[str, int] = field(default_factory=dict)  # of its arithmetic, by precision; none is left out
    repetitions: tuple[int, ...] = ()  # cycles of each timing; () for one
    place: str = ""  # FILE:LINE of the program's call that launched it; "" where that is unknown

    def metric(self, name: str) -> int | float | None:
        """A metric that is a number; None where it is not known."""
        value = self.metrics.get(name)
        return None if isinstance(value, str) else value


class AtomicLine(NamedTuple):
    """A line of global memory that atomics go to: cycles that its slice of the L2 worked on them, at least."""

    address: int
    cycles: int


class MeasuredAdvice(NamedTuple):
    """A piece of `gpuprof advise`, whose gain was measured: a row of the table `advice`. cycles: of the launch that was
    timed again.
    """

    launch: int
    topic: str
    place: str
    path: str
    line: int
    evidence: str
    change: str
    sketch: str
    refuted_by: str
    intervention: str
    cycles_before: int
    cycles_after: int

    @property
    def speedup(self) -> float:
        return self.cycles_before / max(1, self.cycles_after)


class MeasuredChange(NamedTuple):
    """A change that `gpuprof whatif` timed: a row of the table `whatif`. moved_to: stall reasons with it, by name, each
    with its share of the warps' time.
    """

    launch: int
    kind: str
    sooner_cycles: int
    place: str
    path: str
    line: int
    cycles_before: int
    cycles_after: int
    bound_cycles: int
    moved_to: tuple[tuple[str, float], ...]

    @property
    def speedup(self) -> float:
        return self.cycles_before / max(1, self.cycles_after)

    @property
    def bound_speedup(self) -> float:
        return self.cycles_before / max(1, self.cycles_before - self.bound_cycles)


@dataclass(frozen=True)
class Kernel:
    """A kernel with the requested launches; costs are summed over them."""

    name: str  # as written in the source
    symbol: str
    module: str
    registers: int
    shared_nbytes: int
    local_nbytes: int
    spill_nbytes: int
    launches: tuple[Launch, ...]
    instructions: tuple[Instruction, ...]  # of the kernel and of every function it called, by address
    ptx: str
    sources: dict[str, str | None] = field(repr=False)  # path -> text, None when it was not to be had
    blames: tuple[Blame, ...] = ()  # empty where the recording does not say
    # where causes are that are not of this kernel, by address
    others: dict[int, Position] = field(default_factory=dict)
    works: tuple[BlockWork, ...] = ()  # by address, of its launches; empty where none were counted
    advice: tuple[Found, ...] = ()  # findings about the performance of these launches, costliest first
    atomic_lines: tuple[AtomicLine, ...] = ()  # most cycles first
    measured: tuple[MeasuredAdvice, ...] = ()  # the largest gain first; empty where none was measured
    changes: tuple[MeasuredChange, ...] = ()  # in the order found; empty where none was measured
    function: int = 0  # its number in the database

    @cached_property
    def cost(self) -> Cost:
        return total(i.cost for i in self.instructions)

    @cached_property
    def positions(self) -> dict[int, Position]:
        """The innermost position of every instruction that costs or is a cause, by address."""
        return self.others | {instruction.pc: instruction.positions[0] for instruction in self.instructions}

    @cached_property
    def waiting_for(self) -> dict[int, tuple[tuple[int, int], ...]]:
        """(instruction that waits, warp-cycles) by the instruction that it waits for."""
        waits: dict[int, list[tuple[int, int]]] = {}
        for blame in self.blames:
            if not blame.ending.other_launch:
                waits.setdefault(blame.cause_pc, []).append((blame.pc, blame.cycles))
        return {pc: tuple(pairs) for pc, pairs in waits.items()}

    @cached_property
    def cycles(self) -> int:
        """Duration of the launches, summed."""
        return sum(launch.cycles for launch in self.launches)


@dataclass(frozen=True)
class ChipFacts:
    """The numbers of the chip that a report needs; None where the database does not say."""

    name: str
    clock_mhz: float | None = None
    sms: int | None = None
    partitions: int | None = None  # schedulers per SM
    dispatch_units: int = 1  # instructions a scheduler can issue in a cycle
    warp_slots: int | None = None  # per SM
    lanes: int = 32
    peaks: dict[str, Peak] = field(default_factory=dict)  # by resource, of those whose numbers there are


@dataclass(frozen=True)
class Header:
    """The facts at the head of every page."""

    tool_version: str
    model_version: str
    fidelity: str  # how far the model's numbers of this chip can be trusted; empty in old recordings
    chip: str
    kernels: tuple[str, ...]
    launches: int
    samples: int
    dropped: int
    buffer_full: bool
    # (SM, dropped by its FIFO, by the event buffer), largest loss first; empty in old recordings
    losses: tuple[tuple[int, int, int], ...]
    cycles: int  # of the launches
    disturbance_cycles: int  # of these, what sampling cost
    period_cycles: int  # 0: no sampling
    mode: str
    filter: str  # which samples were wanted, "" all; where launches differ, each filter and of how many
    notes: tuple[str, ...]  # what the recording says about itself: an interrupt, damage
    complete: bool
    trigger: str = ""  # kind and number of the events that started the sampler
    partition: str = ""  # the one of each SM that was sampled, "" all
    passes: int = 1  # of one run, each sampled by another seed and at another phase
    results: tuple[Result, ...] = ()  # of all launches: what was compared with its expected values
    alike: str = ""  # how far the model is off for kernels like the longest of these; "" where nothing is known
    # what the launches used that is coarse or was held against no card, a phrase each
    not_held: tuple[str, ...] = ()
    measured_by: str = ""  # the tool that measured it on a card; "" for gpuprof's own recordings
    # how the launches were measured, and how many so; empty for a card's
    caches: tuple[tuple[CacheControl, int], ...] = ()
    samples_time: bool = True  # they are of all warps' time, so that the ledger has what they estimate

    @property
    def is_sampled(self) -> bool:
        return bool(self.period_cycles or self.trigger)


@dataclass(frozen=True)
class Report:
    header: Header
    chip: ChipFacts
    kernels: tuple[Kernel, ...]  # most cycles first
    has_not_issued: bool  # False for compact records, which do not store it
    vocabulary: Vocabulary = NCU  # whose words stall reasons are shown in
    findings: tuple[Found, ...] = ()  # of the kernels' launches, worst first
    watchers: tuple[str, ...] = ()  # trace generators that watched these launches
    traces: tuple[Traced, ...] = ()  # tables of trace generators; only for the page that shows them
    related: TaskReport | None = None  # only for the pages of tasks
    calls: tuple[ApiCall, ...] = ()  # of a program's host; only for the page that shows them
    draws: Draws = NO_DRAWS  # only for the page that shows them
    n_draws: int = 0  # in the file
    program: ProgramTime | None = None  # where host and GPU have one clock, and all launches are shown

    @property
    def tasks(self) -> TaskReport:
        """`related`, for the pages of tasks."""
        assert self.related is not None
        return self.related


@dataclass(frozen=True)
class Row:
    """One line of a listing: a source line, a PTX line, or an instruction."""

    number: int  # line, or address; 0: code without a line
    text: str
    instructions: tuple[Instruction, ...]
    cost: Cost
    inclusive: Cost  # with the code inlined at this line


@dataclass(frozen=True)
class Section:
    """Consecutive rows of one function in one file."""

    function: str
    path: str
    rows: tuple[Row, ...]
    call_sites: tuple[tuple[Position, Cost], ...] = ()  # where the function was inlined, and what it cost there

    @cached_property
    def cost(self) -> Cost:
        return total(row.cost for row in self.rows)
