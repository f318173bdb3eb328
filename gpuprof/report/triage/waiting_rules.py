"""Rules about what warps of several blocks share: words that they wait for in loops."""

from collections import Counter
from collections.abc import Iterator

from gpuprof.base.wording import base_name, percent0
from gpuprof.correlate.frames import Position
from gpuprof.report.model import Kernel
from gpuprof.report.triage.findings import Case, Finding, stalled

SIGNAL = "signal"  # the kind of cause
SIGNAL_SHARE = 0.10  # ours


def grid_barrier(case: Case) -> Iterator[Finding]:
    """A finding where much of the waiting is that of loops which wait for other blocks."""
    blames = [blame for blame in case.kernel.blames if blame.ending.kind == SIGNAL]
    waited = sum(blame.cycles for blame in blames)
    whole = stalled(case.kernel.cost.reasons)
    if not whole or waited <= SIGNAL_SHARE * whole:
        return
    loop, last = (_most(blames, which) for which in ("pc", "cause_pc"))
    here, there = (_place(case.kernel, pc) for pc in (loop, last))
    text = (
        f"{percent0(waited / whole)} of the stalled cycles wait in a loop for other blocks, as at a barrier of the "
        f"grid{_at(here)}; the last block to come ended the wait{_at(there)}. Blocks "
        "arrive one after the other, so fewer and larger blocks wait less; so do blocks with equal work. With many "
        "blocks a launch of its own for each step may be faster."
    )
    yield Finding(
        "grid_barrier",
        text,
        here.path if here else "",
        here.line if here else 0,
        "long_scoreboard",
        waited / sum(case.kernel.cost.reasons),
    )


def _most(blames: list, which: str) -> int:
    """The address with the most cycles."""
    cycles: Counter[int] = Counter()
    for blame in blames:
        cycles[getattr(blame, which)] += blame.cycles
    return max(cycles, key=lambda pc: (cycles[pc], -pc))


def _place(kernel: Kernel, pc: int) -> Position | None:
    """The user's line: the outermost of those that an instruction was inlined from."""
    for instruction in kernel.instructions:
        if instruction.pc == pc and instruction.positions:
            return instruction.positions[-1]
    return kernel.positions.get(pc)


def _at(position: Position | None) -> str:
    return f" at {base_name(position.path)}:{position.line}" if position else ""
