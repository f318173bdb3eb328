"""The relations page: which task made what for which, what nobody needed, and what could run at the same time."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from gpuprof.report.figures import count, nbytes
from gpuprof.report.formats.csv import cell
from gpuprof.report.model import Kernel, Report
from gpuprof.report.pages.page import Page, Request
from gpuprof.report.pages.tasks import remark, whole_cycles
from gpuprof.report.tasks.read import TaskReport
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.look import BOLD, Look, shown

MOST_ROWS = 50  # of a table on a terminal; CSV has all
NOT_OBSERVED = "which bytes each task reads and writes was not noted: collect without --no-accesses"


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    related = report.related
    if request.task is not None:
        yield from of_chosen(related, look)
        return
    yield from titled("relations", related.flows, look, columns_of(related.flows, FLOW, look))
    yield from titled("not needed", related.waste, look, columns_of(related.waste, WASTE, look))
    yield from titled("could run at the same time", related.pairs, look, pair_columns(related, look))
    yield Text("")
    if not related.observed:
        yield from remark(NOT_OBSERVED, look)
        return
    path, whole = related.path, whole_cycles(related.tasks)
    names = " -> ".join(shown(related.tasks.name(related.tasks.place(task))) for task in path.tasks[:MOST_ROWS])
    yield from remark(
        f"the longest chain of needs takes {path.cycles:,} of {whole:,} cycles, each task as long as it ran: {names}",
        look,
    )


def titled(title: str, rows: Sequence, look: Look, columns: list[Column]) -> Iterator[Text]:
    if rows:
        yield Text("")
        yield Text("# " if look.plain else "").append(title, BOLD)
        yield from table(columns, rows[:MOST_ROWS], look)
        if len(rows) > MOST_ROWS:
            yield from remark(f"{len(rows) - MOST_ROWS:,} more rows (--format csv)", look)


FLOW = ("source", "kind", "target", "via", "nbytes", "count", "origin")
WASTE = ("task", "kind", "other", "via", "nbytes", "count")
NEIGHBOUR = ("kind", "task", "name", "via", "nbytes", "origin")
TOUCH = ("task", "name", "is_write", "nbytes", "first", "end", "is_exact")
NUMBERS = ("count", "task", "first", "end")
HEADS = {"is_write": "access", "nbytes": "bytes", "is_exact": "exact", "source": "from", "target": "to"}


def columns_of(rows: Sequence, names: Sequence[str], look: Look) -> list[Column]:
    def show(name: str):
        def value(row) -> Text:
            item = getattr(row, name)
            if name == "is_write":
                return Text("writes" if item else "reads")
            if name == "is_exact":
                return Text("yes" if item else "no")
            if name == "nbytes":
                return Text(str(item) if look.plain else nbytes(item) if item else "-")
            if item is None or item == "":
                return Text("-")
            if isinstance(item, int):
                return Text(count(item, look.plain))
            return Text(shown(item).replace(" ", "_") if look.plain else shown(item))

        return value

    return [
        Column(HEADS.get(name, name), show(name), place, left=name not in (*NUMBERS, "nbytes"), gap=2 if place else 0)
        for place, name in enumerate(names)
    ]


def pair_columns(related: TaskReport, look: Look) -> list[Column]:
    def name(task: int) -> Text:
        return Text(f"{shown(related.tasks.name(related.tasks.place(task)))} (task {task})")

    return [
        Column("bound", lambda p: Text(count(p.bound_cycles, look.plain)), gap=0),
        Column("because of", lambda p: Text(p.kind), 2, left=True),
        Column("first", lambda p: name(p.source), 1, left=True),
        Column("second", lambda p: name(p.target), left=True),
    ]


def of_chosen(related: TaskReport, look: Look) -> Iterator[Text]:
    for title, found in related.neighbours:
        yield from titled(shown(title), found, look, columns_of(found, NEIGHBOUR, look))
        if not found:
            yield from remark(f"{shown(title)} is related to nothing", look)
    for title, touches in related.touches:
        yield from titled(shown(title), touches, look, columns_of(touches, TOUCH, look))
        if not touches:
            yield from remark(f"no task is known to read or write {shown(title)}", look)


def tables(report: Report) -> Iterator[tuple[str, Sequence[str], Sequence]]:
    related = report.related
    yield "relations", FLOW, related.flows
    yield "not needed", WASTE, related.waste
    yield "could run at the same time", ("source", "target", "kind", "bound_cycles"), related.pairs
    for title, found in related.neighbours:
        yield title, NEIGHBOUR, found
    for title, touches in related.touches:
        yield title, TOUCH, touches


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    for title, names, found in tables(report):
        if found or (title == "relations" and request.task is None):
            yield ["Table", cell(title)]
            yield [HEADS.get(name, name) for name in names]
            for row in found:
                yield [cell(getattr(row, name)) for name in names]


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    """The same of each kernel: relations are the whole program's."""
    found = {title: [row._asdict() for row in rows_] for title, _, rows_ in tables(report)}
    return {"relations": found | {"path": report.related.path._asdict()}}


PAGE = Page(text, rows, objects)
