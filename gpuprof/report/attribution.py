"""Where a stall is shown: at the instruction that waits, or where the program counter of a card's sample stands.

On cards a warp that waits at a barrier or a fence, or for its last stores, already stands at the instruction behind it.
What a jump costs is charged to the instruction that it leads to in both.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.stalls import INDEX
from gpuprof.report.model import Cost, Instruction, Kernel, Report, Stalls, total

ATTRIBUTIONS = ("waiting", "ncu")
# Seen in public Nsight Compute reports of sm_75 to sm_90: all samples of `drain` stand behind EXIT.
SHOWN_BEHIND = tuple(INDEX[name] for name in ("barrier", "membar", "drain"))


def attributed(report: Report, attribution: str) -> Report:
    """The report with each stall at the place that `attribution`, one of ATTRIBUTIONS, gives it. Sums stay."""
    if attribution == "waiting":
        return report
    return replace(report, kernels=tuple(map(_as_cards_show, report.kernels)))


def _as_cards_show(kernel: Kernel) -> Kernel:
    behind = _places_behind(kernel.instructions)
    at = {i.pc: i for i in kernel.instructions}
    costs: dict[int, list[Cost]] = {pc: [] for pc in at}
    stalls: dict[int, list[Stalls]] = {pc: [] for pc in at}
    for i in kernel.instructions:
        there = behind.get(i.pc, i.pc)
        stays, goes = _split(i.cost)
        costs[i.pc].append(stays)
        costs[there].append(goes)
        for some in i.stalls:
            stalls[there if some.reason in SHOWN_BEHIND else i.pc].append(some)
    return replace(
        kernel,
        instructions=tuple(
            replace(i, cost=total(costs[i.pc]), stalls=_joined(stalls[i.pc])) for i in kernel.instructions
        ),
        blames=tuple(b._replace(pc=behind.get(b.pc, b.pc)) if b.reason in SHOWN_BEHIND else b for b in kernel.blames),
    )


def _places_behind(instructions: Sequence[Instruction]) -> dict[int, int]:
    """The address behind each instruction, where there is code of the same function."""
    return {
        i.pc: after.pc
        for i, after in pairwise(sorted(instructions, key=lambda i: i.pc))
        if after.pc == i.pc + INSTRUCTION_NBYTES and after.function == i.function
    }


def _split(cost: Cost) -> tuple[Cost, Cost]:
    """What stays at an instruction, and what is shown behind it."""
    names = ("samples", "not_issued", "cycles", "weights")
    goes: dict[str, Any] = {
        name: tuple(n if r in SHOWN_BEHIND else 0 for r, n in enumerate(getattr(cost, name))) for name in names
    }
    stays = {name: tuple(map(int.__sub__, getattr(cost, name), goes[name])) for name in names}
    return replace(cost, **stays), Cost(**goes)


def _joined(stalls: Sequence[Stalls]) -> tuple[Stalls, ...]:
    """One row for each reason."""
    found: dict[int, Stalls] = {}
    for some in stalls:
        if (before := found.get(some.reason)) is not None:
            lengths = dict(before.lengths)
            for least, n in some.lengths:
                lengths[least] = lengths.get(least, 0) + n
            longest = max(before.longest_cycles, some.longest_cycles)
            some = Stalls(some.reason, before.stalls + some.stalls, longest, tuple(sorted(lengths.items())))
        found[some.reason] = some
    return tuple(found[reason] for reason in sorted(found))
