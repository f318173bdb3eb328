"""The blame page: for each line that stalls, and each reason, the line that ended it."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rich.text import Text

from gpuprof.isa.stalls import NAMES
from gpuprof.isa.vocabularies import Vocabulary
from gpuprof.report.formats import cell, share
from gpuprof.report.model import Kernel, Report
from gpuprof.report.number_text import count, percent
from gpuprof.report.pages.page_kind import Page, Request
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import BOLD, DIM, Look, clipped, flow, shown
from gpuprof.report.warp_ends import Entry, entries, name_of, text_of

MOST_ROWS, LEAST_SHARE = 25, 0.002  # of a kernel, in text
NO_CAUSES = "the recording has no causes of stalls: collect again"
NONE_OF_A_CARD = "samples of a card do not say what ended a stall"


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    for kernel in report.kernels:
        yield Text("")
        yield clipped(Text("# " if look.plain else "").append(shown(kernel.name), BOLD), look)
        yield from kernel_table(kernel, look, NONE_OF_A_CARD if report.header.measured_by else NO_CAUSES)


def kernel_table(kernel: Kernel, look: Look, why_none: str) -> Iterator[Text]:
    mark = Text("# " if look.plain else "")
    all_entries, whole = entries(kernel), kernel.cost.warp_cycles
    if not all_entries:
        yield from flow(mark, [why_none], look)
        return
    rows = [entry for entry in all_entries[:MOST_ROWS] if entry.cycles >= LEAST_SHARE * whole] or all_entries[:1]

    def cause(entry: Entry) -> Text:
        return Text("itself", DIM) if entry.is_own else Text(name_of(entry.cause, entry.cause_pc))

    def reason(entry: Entry) -> Text:
        return Text(look.vocabulary.short(entry.reason), look.of_reason(NAMES[entry.reason]))

    def how(entry: Entry) -> Text:
        words = str(entry.ending)
        return Text(words.replace(", ", ",").replace(" ", "_") if look.plain else words)

    columns = [
        Column("exact", lambda e: Text(percent(e.cycles, whole)), gap=0),
        Column("cycles", lambda e: Text(count(e.cycles, look.plain)), 5),
        Column("stalls", lambda e: Text(count(e.stalls, look.plain), DIM), 6),
        Column("line", lambda e: Text(name_of(e.stalled, e.stalled_pc)), left=True),
        Column("why", reason, 1, left=True),
        Column("waits for", cause, left=True),
        Column("which is", how, 3, left=True),
        Column("source", lambda e: Text(shown(text_of(kernel, e.cause, e.cause_pc)), DIM), 2, left=True),
    ]
    yield from table(columns, rows, look)
    hidden = all_entries[len(rows) :]
    if hidden:
        rest = percent(sum(entry.cycles for entry in hidden), whole)
        yield from flow(mark, [f"and {len(hidden)} more, together {rest}; --format csv shows all"], look)


class EntryLine(NamedTuple):
    """A row of the CSV, or an object of the JSON."""

    entry: Entry
    kernel: Kernel
    vocabulary: Vocabulary


# (title in CSV, name in JSON, value); a line that is not known is None, and so is an address where there is a line
FIELDS: tuple[tuple[str, str, Callable[[EntryLine], object]], ...] = (
    ("File", "path", lambda line: shown(line.entry.stalled.path)),
    ("Line", "line", lambda line: line.entry.stalled.line or None),
    ("Address", "address", lambda line: line.entry.stalled_pc or None),
    ("Stall", "stall", lambda line: line.vocabulary.word(line.entry.reason)),
    ("Cause File", "cause_path", lambda line: shown(line.entry.cause.path)),
    ("Cause Line", "cause_line", lambda line: line.entry.cause.line or None),
    ("Cause Address", "cause_address", lambda line: line.entry.cause_pc or None),
    ("Cause", "cause", lambda line: line.entry.ending.kind),
    ("Other Warp", "other_warp", lambda line: line.entry.ending.other_warp),
    ("Other Launch", "other_launch", lambda line: line.entry.ending.other_launch),
    ("Conflict", "conflict", lambda line: line.entry.ending.conflict),
    ("Warp Cycles (Exact)", "warp_cycles", lambda line: line.entry.cycles),
    ("Exact Share", "exact_share", lambda line: share(line.entry.cycles, line.kernel.cost.warp_cycles)),
    ("Stalls", "stalls", lambda line: line.entry.stalls),
)


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    """The heading, then a row per entry of every kernel."""
    yield ["Kernel", *(title for title, _, _ in FIELDS)]
    for kernel in report.kernels:
        for entry in entries(kernel):
            line = EntryLine(entry, kernel, report.vocabulary)
            yield [shown(kernel.name), *(cell(value(line)) for _, _, value in FIELDS)]


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    lines = (EntryLine(entry, kernel, report.vocabulary) for entry in entries(kernel))
    return {"causes": [{name: value(line) for _, name, value in FIELDS} for line in lines]}


PAGE = Page(text, rows, objects)
