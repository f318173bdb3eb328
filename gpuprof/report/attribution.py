"""The instruction that a stall is shown at: the one that waits, or the one at the program counter of a card's sample.

On cards the program counter of a warp that waits at a barrier or a fence, or for its last stores, is already at the
next instruction. The cost of a jump is charged to its target in both.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.stalls import INDEX
from gpuprof.report.model import Cost, Instruction, Kernel, Report, Stalls, total

ATTRIBUTIONS = ("waiting", "ncu")
# Seen in public Nsight Compute reports of sm_75 to sm_90: all samples of `drain` are at the address after EXIT.
SHOWN_AFTER = tuple(INDEX[name] for name in ("barrier", "membar", "drain"))


def attributed(report: Report, attribution: str) -> Report:
    """The report with each stall at the instruction that `attribution`, one of ATTRIBUTIONS, selects; sums stay."""
    if attribution == "waiting":
        return report
    return replace(report, kernels=tuple(map(_as_cards_show, report.kernels)))


def _as_cards_show(kernel: Kernel) -> Kernel:
    next_pcs = _next_pcs(kernel.instructions)
    costs: dict[int, list[Cost]] = {i.pc: [] for i in kernel.instructions}
    stalls: dict[int, list[Stalls]] = {i.pc: [] for i in kernel.instructions}
    for i in kernel.instructions:
        next_pc = next_pcs.get(i.pc, i.pc)
        staying, moved = _split(i.cost)
        costs[i.pc].append(staying)
        costs[next_pc].append(moved)
        for row in i.stalls:
            stalls[next_pc if row.reason in SHOWN_AFTER else i.pc].append(row)
    return replace(
        kernel,
        instructions=tuple(
            replace(i, cost=total(costs[i.pc]), stalls=_joined(stalls[i.pc])) for i in kernel.instructions
        ),
        blames=tuple(b._replace(pc=next_pcs.get(b.pc, b.pc)) if b.reason in SHOWN_AFTER else b for b in kernel.blames),
    )


def _next_pcs(instructions: Sequence[Instruction]) -> dict[int, int]:
    """The address after each instruction, where it holds code of the same function."""
    return {
        i.pc: after.pc
        for i, after in pairwise(sorted(instructions, key=lambda i: i.pc))
        if after.pc == i.pc + INSTRUCTION_NBYTES and after.function == i.function
    }


def _split(cost: Cost) -> tuple[Cost, Cost]:
    """The costs that stay at an instruction, and those that are shown after it."""
    names = ("samples", "not_issued", "cycles", "weights")
    moved: dict[str, Any] = {
        name: tuple(n if r in SHOWN_AFTER else 0 for r, n in enumerate(getattr(cost, name))) for name in names
    }
    staying = {name: tuple(map(int.__sub__, getattr(cost, name), moved[name])) for name in names}
    return replace(cost, **staying), Cost(**moved)


def _joined(stalls: Sequence[Stalls]) -> tuple[Stalls, ...]:
    """One row for each reason."""
    by_reason: dict[int, Stalls] = {}
    for row in stalls:
        if (before := by_reason.get(row.reason)) is not None:
            lengths = dict(before.lengths)
            for least, n in row.lengths:
                lengths[least] = lengths.get(least, 0) + n
            longest = max(before.longest_cycles, row.longest_cycles)
            row = Stalls(row.reason, before.stalls + row.stalls, longest, tuple(sorted(lengths.items())))
        by_reason[row.reason] = row
    return tuple(by_reason[reason] for reason in sorted(by_reason))
