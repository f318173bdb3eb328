"""The blame page: for each line that stalls, and each reason, the line that ended it. And what lines are waited for, of
the source page and the summary.
"""

from collections.abc import Iterator
from typing import NamedTuple

from rich.text import Text

from gpuprof.isa.stalls import NAMES
from gpuprof.report.figures import base_name, count, percent
from gpuprof.report.model import Ending, Kernel, Position, Report, Row
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.look import BOLD, DIM, Look, clipped, flow, shown

MOST_ROWS, LEAST_SHARE = 25, 0.002  # of a kernel, in text
NO_CAUSES = "the recording does not say what ended the stalls: collect again"


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
        key = (*place(kernel, blame.pc), blame.reason, *place(kernel, blame.cause_pc), blame.ending)
        sums.setdefault(key, [0, 0])
        sums[key][0] += blame.cycles
        sums[key][1] += blame.stalls
    return sorted((Entry(*key, *numbers) for key, numbers in sums.items()), key=lambda entry: (-entry.cycles, entry))


def place(kernel: Kernel, pc: int) -> tuple[Position, int]:
    position = kernel.positions.get(pc, Position("", "", 0))
    return (position, 0) if position.line else (position, pc)


def name_of(position: Position, pc: int) -> str:
    return f"{shown(base_name(position.path))}:{position.line}" if position.line else f"{pc:#x}"


def attributed(kernel: Kernel, row: Row) -> int:
    """Warp-cycles for which other rows than this one wait for its instructions."""
    own = {instruction.pc for instruction in row.instructions}
    return sum(cycles for pc in own for waiting, cycles in kernel.waiting_for.get(pc, ()) if waiting not in own)


def most_waited_for(kernel: Kernel) -> tuple[str, int, str, str] | None:
    """Of the lines that others wait for: the one of the most cycles, these, how most of them go, and its text."""
    sums: dict[tuple[Position, int], int] = {}
    found = [entry for entry in entries(kernel) if not entry.is_own]
    for entry in found:
        sums[entry.cause, entry.cause_pc] = sums.get((entry.cause, entry.cause_pc), 0) + entry.cycles
    if not sums:
        return None
    best = max(sums, key=lambda key: (sums[key], key))
    how = next(entry.ending.label for entry in found if (entry.cause, entry.cause_pc) == best)
    return name_of(*best), sums[best], how, text_of(kernel, *best)


def text_of(kernel: Kernel, position: Position, pc: int) -> str:
    """The source line, or the instruction where there is none."""
    texts = (kernel.sources.get(position.path) or "").splitlines()
    if 0 < position.line <= len(texts):
        return texts[position.line - 1].strip()
    return next((i.text for i in kernel.instructions if i.pc == pc), "")


def page(report: Report, look: Look) -> Iterator[Text]:
    for kernel in report.kernels:
        yield Text("")
        yield clipped(Text("# " if look.plain else "").append(shown(kernel.name), BOLD), look)
        yield from kernel_table(kernel, look)


def kernel_table(kernel: Kernel, look: Look) -> Iterator[Text]:
    mark = Text("# " if look.plain else "")
    found, whole = entries(kernel), kernel.cost.warp_cycles
    if not found:
        yield from flow(mark, [NO_CAUSES], look)
        return
    rows = [entry for entry in found[:MOST_ROWS] if entry.cycles >= LEAST_SHARE * whole] or found[:1]

    def cause(entry: Entry) -> Text:
        return Text("itself", DIM) if entry.is_own else Text(name_of(entry.cause, entry.cause_pc))

    def reason(entry: Entry) -> Text:
        return Text(look.vocabulary.short(entry.reason), look.of_reason(NAMES[entry.reason]))

    def how(entry: Entry) -> Text:
        words = str(entry.ending)
        return Text(words.replace(", ", ",").replace(" ", "_") if look.plain else words)

    columns = [
        Column("exact", lambda e: Text(percent(e.cycles, whole)), gap=0),
        Column("cycles", lambda e: Text(count(e.cycles, look.plain)), 4),
        Column("stalls", lambda e: Text(count(e.stalls, look.plain), DIM), 5),
        Column("line", lambda e: Text(name_of(e.stalled, e.stalled_pc)), left=True),
        Column("why", reason, left=True),
        Column("waits for", cause, left=True),
        Column("which is", how, 2, left=True),
        Column("source", lambda e: Text(shown(text_of(kernel, e.cause, e.cause_pc)), DIM), 1, left=True),
    ]
    yield from table(columns, rows, look)
    hidden = found[len(rows) :]
    if hidden:
        rest = percent(sum(entry.cycles for entry in hidden), whole)
        yield from flow(mark, [f"and {len(hidden)} more, together {rest}: --csv has all"], look)


CSV_HEADING = (
    "Kernel", "File", "Line", "Address", "Stall", "Cause File", "Cause Line", "Cause Address", "Cause", "Other Warp",
    "Other Launch", "Conflict",
    "Warp Cycles (Exact)", "Exact Share", "Stalls",
)  # fmt: skip


def csv_rows(report: Report, lines: tuple[int, int] | None = None) -> Iterator[tuple]:
    """The heading, then a row per entry of every kernel."""
    yield CSV_HEADING
    for kernel in report.kernels:
        for entry in entries(kernel):
            found = entry_object(kernel, entry, report)
            yield (
                shown(kernel.name),
                *(
                    ("" if value is None else int(value) if isinstance(value, bool) else value)
                    for value in found.values()
                ),
            )


def entry_object(kernel: Kernel, entry: Entry, report: Report) -> dict:
    """An entry for programs; a line that is not known is None, and an address where there is a line."""
    whole = kernel.cost.warp_cycles
    return {
        "path": shown(entry.stalled.path),
        "line": entry.stalled.line or None,
        "address": entry.stalled_pc or None,
        "stall": report.vocabulary.word(entry.reason),
        "cause_path": shown(entry.cause.path),
        "cause_line": entry.cause.line or None,
        "cause_address": entry.cause_pc or None,
        "cause": entry.ending.kind,
        "other_warp": entry.ending.other_warp,
        "other_launch": entry.ending.other_launch,
        "conflict": entry.ending.conflict,
        "warp_cycles": entry.cycles,
        "exact_share": round(entry.cycles / whole, 6) if whole else None,
        "stalls": entry.stalls,
    }
