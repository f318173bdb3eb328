"""Advice on a stall reason, where the kernel's own numbers say more than the reason's general advice."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gpuprof.base.wording import percent0
from gpuprof.isa.kinds import ATOMICS
from gpuprof.isa.opcodes import named
from gpuprof.isa.stalls import NAMES, REASONS
from gpuprof.report.model import Instruction, Row
from gpuprof.report.number_text import product
from gpuprof.report.throughput import HIGH, Use
from gpuprof.report.triage.findings import Case

ROOM = 0.5  # ours, of the warp slots: where more are filled, more warps help little
LARGE_BLOCK = 512  # threads, ours: few of them fit on an SM
SECTOR_NBYTES = 32


class Situation(NamedTuple):
    """`holds` of the instructions that stall; `text` is the advice then."""

    holds: Callable[[Case, Sequence[Instruction]], bool]
    text: str


def once_a_warp(case: Case, stalling: Sequence[Instruction]) -> bool:
    """No loop: a warp comes there once."""
    warps = sum(int(launch.metrics.get("warps_launched", 0)) for launch in case.kernel.launches)
    return 0 < max((each.cost.counters.inst_executed for each in stalling), default=0) <= warps


def broadcasts(case: Case, stalling: Sequence[Instruction]) -> bool:
    """All lanes of a warp read one word: a whole warp's access takes one sector, where words of its own take more."""
    loads = [each.cost.counters for each in stalling if each.cost.counters.l2_sectors_global]
    return bool(loads) and all(
        load.l2_sectors_global <= load.inst_executed
        and load.thread_inst_executed >= SECTOR_NBYTES / 2 * load.inst_executed
        for load in loads
    )


def is_local(case: Case, stalling: Sequence[Instruction]) -> bool:
    return sum(each.cost.counters.l2_sectors_local for each in stalling) > 0


def waits_for_grid(case: Case, stalling: Sequence[Instruction]) -> bool:
    """A barrier of the whole grid: its line counts blocks in global memory, in addition to the barrier of the block."""
    lines = {position for each in stalling for position in each.positions[:1]}
    return any(counts_in_memory(each) and each.positions[0] in lines for each in case.kernel.instructions)


def counts_in_memory(instruction: Instruction) -> bool:
    op = named(instruction.opcode)
    return op is not None and op.kind in ATOMICS and op.space in ("global", "generic")


def large_blocks(case: Case, stalling: Sequence[Instruction]) -> bool:
    return max((product(launch.block) for launch in case.kernel.launches), default=0) >= LARGE_BLOCK


def full_of_atomics(case: Case) -> Use | None:
    """The use of the L2 slice with the most atomics, if it has little time for anything else; else None."""
    return next((use for use in case.used.uses if use.resource.name == "atomics" and use.share >= HIGH), None)


def waits_for_atomics(case: Case, stalling: Sequence[Instruction]) -> bool:
    return full_of_atomics(case) is not None


FULL_OF_ATOMICS = (
    "A slice of the L2 is full of atomics there: only fewer of them, or other addresses, shorten the wait."
)
BROADCAST = (
    "All lanes of a warp read the same word there: let each lane take another one, or read it once and keep it in a "
    "register."
)
SITUATIONS: dict[str, tuple[Situation, ...]] = {
    "imc_miss": (
        Situation(once_a_warp, "It is the first touch of the kernel's parameters, once a warp: only more work of each "
                  "warp makes up for it."),
    ),
    "no_instructions": (
        Situation(once_a_warp, "The code is fetched for the first time, once a warp: only more work of each warp makes "
                  "up for it."),
    ),
    "lg_throttle": (
        Situation(is_local, "Register spills and arrays in local memory are such accesses: keep fewer values alive, or "
                  "give the kernel more registers."),
        Situation(broadcasts, BROADCAST),
    ),
    "long_scoreboard": (Situation(waits_for_atomics, FULL_OF_ATOMICS), Situation(broadcasts, BROADCAST)),
    "drain": (Situation(waits_for_atomics, FULL_OF_ATOMICS),),
    "barrier": (
        Situation(waits_for_grid, "It is the grid's barrier: fewer blocks, or fewer barriers, make it cheaper."),
        Situation(large_blocks, "Balance the work between warps before the barrier; smaller blocks let others fill the "
                  "gap."),
    ),
}  # fmt: skip
# What would fit every kernel with the reason is no advice; a profile of a card cannot be timed again.
MEASURE = "`gpuprof advise` measures what would shorten it."
LATENCIES = ("wait", "long_scoreboard")  # what other warps can hide


def advice_on(reason: int, case: Case, row: Row | None) -> str:
    """Advice on a reason (by number) at a line, or in the whole kernel."""
    everywhere = case.kernel.instructions if row is None else row.instructions
    stalling = [each for each in everywhere if each.cost.reasons[reason]]
    chosen = (each.text for each in SITUATIONS.get(NAMES[reason], ()) if each.holds(case, stalling))
    general = REASONS[reason].advice if case.header.measured_by else MEASURE
    return next(chosen, general) + more_warps(reason, case)


def more_warps(reason: int, case: Case) -> str:
    """Room for warps that hide a latency. SMs without a block are another finding, and none hides what a full resource
    takes.
    """
    achieved, top = case.totals.achieved_occupancy, case.used.top
    is_full = top is not None and top.share >= HIGH
    if NAMES[reason] not in LATENCIES or achieved is None or achieved >= ROOM or is_full:
        return ""
    return f" More warps would hide it: {percent0(achieved)} of their slots are filled."
