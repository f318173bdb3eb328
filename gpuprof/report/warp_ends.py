"""The causes that ended the stalls of a kernel's lines, and the line that is waited for most."""

from typing import NamedTuple

from gpuprof.base.text_lines import lines_of
from gpuprof.base.wording import base_name
from gpuprof.correlate.frames import Position
from gpuprof.report.model import Ending, Kernel, Row
from gpuprof.report.terminal.styles import shown


class Entry(NamedTuple):
    """Stalls of one line for one reason that one line ended in one way. Lines are innermost positions; those without a
    line keep their address.
    """

    stalled: Position
    stalled_pc: int  # 0 where there is a line
    reason: int
    cause: Position
    cause_pc: int
    ending: Ending
    cycles: int
    stalls: int

    @property
    def is_own(self) -> bool:
        return (self.stalled, self.stalled_pc) == (self.cause, self.cause_pc) and not self.ending.other_launch


def entries(kernel: Kernel) -> list[Entry]:
    """All of a kernel's, the most cycles first."""
    sums: dict[tuple, list[int]] = {}
    for blame in kernel.blames:
        key = (*location(kernel, blame.pc), blame.reason, *location(kernel, blame.cause_pc), blame.ending)
        sums.setdefault(key, [0, 0])
        sums[key][0] += blame.cycles
        sums[key][1] += blame.stalls
    return sorted((Entry(*key, *numbers) for key, numbers in sums.items()), key=lambda entry: (-entry.cycles, entry))


def location(kernel: Kernel, pc: int) -> tuple[Position, int]:
    position = kernel.positions.get(pc, Position("", "", 0))
    return (position, 0) if position.line else (position, pc)


def name_of(position: Position, pc: int) -> str:
    return f"{shown(base_name(position.path))}:{position.line}" if position.line else f"{pc:#x}"


def attributed(kernel: Kernel, row: Row) -> int:
    """Warp-cycles for which other rows than this one wait for its instructions."""
    own = {instruction.pc for instruction in row.instructions}
    return sum(cycles for pc in own for waiting, cycles in kernel.waiting_for.get(pc, ()) if waiting not in own)


def most_waited_for(kernel: Kernel) -> tuple[str, int, str, str] | None:
    """The line that other lines wait for most: its name, their warp-cycles, how most of the waits end, and its text."""
    sums: dict[tuple[Position, int], int] = {}
    others = [entry for entry in entries(kernel) if not entry.is_own]
    for entry in others:
        sums[entry.cause, entry.cause_pc] = sums.get((entry.cause, entry.cause_pc), 0) + entry.cycles
    if not sums:
        return None
    best = max(sums, key=lambda key: (sums[key], key))
    how = next(entry.ending.label for entry in others if (entry.cause, entry.cause_pc) == best)
    return name_of(*best), sums[best], how, text_of(kernel, *best)


def text_of(kernel: Kernel, position: Position, pc: int) -> str:
    """The source line, or the instruction where there is none."""
    texts = lines_of(kernel.sources.get(position.path) or "")
    if 0 < position.line <= len(texts):
        return texts[position.line - 1].strip()
    return next((i.text for i in kernel.instructions if i.pc == pc), "")
