"""The stalls page: for each line (or instruction) and reason how many stalls, how long, and whether few long or many
short ones. CSV is by instruction, which can be summed to anything.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rich.text import Text

from gpuprof.base.wording import base_name, plural
from gpuprof.correlate.frames import Position
from gpuprof.isa.printing.printable import printable
from gpuprof.isa.stalls import NAMES
from gpuprof.isa.vocabularies import Vocabulary
from gpuprof.report.model import SELECTED, Kernel, Report
from gpuprof.report.number_text import count, percent
from gpuprof.report.pages.page_kind import Page, Request
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import BOLD, DIM, Look, clipped, shown
from gpuprof.report.waits import Waits, facts, kernel_waits, mean, range_of

MOST_ROWS, LEAST_SHARE = 20, 0.005  # shown of a kernel
LEAST_BINS, LEAST_CODE_CELLS = 12, 4
HEIGHTS, DIGITS = " ▁▂▃▄▅▆▇█", ".123456789"


def histogram(lengths: Sequence[tuple[int, int]], look: Look) -> Text:
    """A cell for each bin from 1 on, as high as its count; in a pipe "1:40,512:3"."""
    if look.plain or not lengths:
        return Text(",".join(f"{least}:{n}" for least, n in lengths))
    of_bin = {least.bit_length() - 1: n for least, n in lengths}
    most, levels = max(of_bin.values()), HEIGHTS if look.blocks else DIGITS
    return Text("".join(levels[-(-of_bin.get(k, 0) * (len(levels) - 1) // most)] for k in range(max(of_bin) + 1)))


def scale(n_bins: int) -> str:
    """The axis over a histogram: every fourth bin's least cycles."""
    return "".join(f"{1 << k % 10}{' KMGT'[k // 10]}".strip().ljust(4) for k in range(0, n_bins, 4))[:n_bins]


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    for kernel in report.kernels:
        yield from kernel_text(kernel, look, request.isa)


def kernel_text(kernel: Kernel, look: Look, isa: bool) -> Iterator[Text]:
    mark = "# " if look.plain else ""
    waits, cycles = kernel_waits(kernel, isa, look.vocabulary), kernel.cost.cycles
    stalled = sum(cycles) - cycles[SELECTED]
    yield Text("")
    whole = plural(stalled, "stalled warp-cycle", "stalled warp-cycles")
    yield clipped(Text(mark).append(shown(kernel.name), BOLD).append(f"  {whole}", DIM), look)
    if not waits:
        yield clipped(Text(f"{mark}no stall was recorded" + ("; collect again" if stalled else "")), look)
        return
    worth = [wait for wait in waits if wait.cycles >= LEAST_SHARE * stalled][:MOST_ROWS] or waits[:1]
    yield from table(columns_for(worth, stalled, look, isa), worth, look, LEAST_CODE_CELLS)
    if len(worth) < len(waits):
        rest = percent(stalled - sum(wait.cycles for wait in worth), stalled)
        yield clipped(Text(f"{mark}left out: {len(waits) - len(worth)} more, {rest} together", DIM), look)


def columns_for(waits: list[Waits], stalled: int, look: Look, isa: bool) -> list[Column]:
    def location(wait: Waits) -> Text:
        if isa:
            return Text(f"{wait.row.number:#x}", DIM)
        return Text(f"{shown(base_name(wait.path))}:{wait.row.number}" if wait.row.number else "-")

    def reason(wait: Waits) -> Text:
        word = look.vocabulary.word if look.plain else look.vocabulary.short
        return Text(word(wait.stalls.reason), look.of_reason(NAMES[wait.stalls.reason]))

    n_bins = max([LEAST_BINS, *(wait.stalls.lengths[-1][0].bit_length() for wait in waits if wait.stalls.lengths)])
    return [
        Column("share", lambda w: Text(percent(w.cycles, stalled)), gap=0),
        Column("reason", reason, left=True),
        Column("stalls", lambda w: Text(count(w.stalls.stalls, look.plain)), 2),
        Column("mean", lambda w: Text(f"{w.mean_cycles:.1f}" if look.plain else mean(w.mean_cycles)), 3),
        Column("longest", lambda w: Text(count(w.stalls.longest_cycles, look.plain)), 6),
        Column(
            "cycles:stalls" if look.plain else scale(n_bins),
            lambda w: histogram(w.stalls.lengths, look),
            5,
            left=True,
            name="cycles:stalls",
        ),
        Column("kind", lambda w: Text(w.kind.replace(" ", "-") if look.plain else w.kind), 4, left=True),
        Column("address" if isa else "line", location, left=True),
        Column("instruction" if isa else "source", lambda w: Text(shown(w.row.text).strip(), DIM), 1, left=True),
    ]


class WaitsLine(NamedTuple):
    """The values that a CSV row is made from."""

    kernel: Kernel
    waits: Waits  # of one instruction
    vocabulary: Vocabulary

    @property
    def position(self) -> Position:
        return self.waits.row.instructions[0].positions[0]


FIELDS: tuple[tuple[str, Callable[[WaitsLine], object]], ...] = (
    ("Kernel Name", lambda line: printable(line.kernel.name)),
    ("Address", lambda line: f"{line.waits.row.number:#x}"),
    ("File", lambda line: printable(line.position.path)),
    ("Line", lambda line: line.position.line),
    ("Function", lambda line: printable(line.position.function)),
    ("Instruction", lambda line: printable(line.waits.row.text)),
    ("Reason", lambda line: line.vocabulary.word(line.waits.stalls.reason)),
    ("Warp Cycles", lambda line: line.waits.cycles),
    ("Stalls", lambda line: line.waits.stalls.stalls),
    ("Mean Cycles", lambda line: round(line.waits.mean_cycles, 6)),
    ("Longest Cycles", lambda line: line.waits.stalls.longest_cycles),
    ("Kind", lambda line: line.waits.kind),
)


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    """One per instruction and reason, with a column for each bin that any has."""
    vocabulary = report.vocabulary
    lines = [
        WaitsLine(kernel, waits, vocabulary)
        for kernel in report.kernels
        for waits in kernel_waits(kernel, True, vocabulary)
    ]
    bins = sorted({least for line in lines for least, _ in line.waits.stalls.lengths})
    yield [*(title for title, _ in FIELDS), *(f"Stalls Of {range_of(least).replace(',', '')}" for least in bins)]
    for line in lines:
        lengths = dict(line.waits.stalls.lengths)
        yield [*(cell(line) for _, cell in FIELDS), *(lengths.get(least, 0) for least in bins)]


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    """Stalls by line and reason, most cycles first."""
    return {
        "stalls": [
            {
                "path": waits.path,
                "line": waits.row.number,
                "reason": report.vocabulary.word(waits.stalls.reason),
                "warp_cycles": waits.cycles,
            }
            | facts(waits)
            for waits in kernel_waits(kernel, False, report.vocabulary)
        ]
    }


PAGE = Page(text, rows, objects)
