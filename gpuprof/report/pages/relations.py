"""The relations page: data flow between tasks, unused data, and launches that could overlap."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from gpuprof.report.formats import cell
from gpuprof.report.model import Kernel, Report
from gpuprof.report.number_text import count, nbytes
from gpuprof.report.pages.page_kind import Page, Request
from gpuprof.report.pages.tasks import whole_cycles
from gpuprof.report.tasks.read_tasks import TaskReport
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import BOLD, Look, fitted, remark, shown

MOST_ROWS = 50  # of a table on a terminal; CSV has all
ONLY_CHOSEN = "only relations of the requested launches, and of the tasks that they are parts of"
NOT_OBSERVED = "which bytes each task reads and writes was not noted: collect without --no-accesses"


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    related = report.tasks
    if request.task is not None:
        yield from of_chosen(related, look)
        return
    yield from titled("relations", related.flows, look, flow_columns(look))
    yield from titled("not needed", related.waste, look, waste_columns(look))
    yield from titled("could run at the same time", related.pairs, look, pair_columns(related, look))
    yield Text("")
    if related.shown is not None:
        yield from remark(ONLY_CHOSEN, look)
    if not related.observed:
        yield from remark(NOT_OBSERVED, look)
        return
    path, whole = related.path, whole_cycles(related.tasks)
    names = " -> ".join(shown(related.tasks.name(related.tasks.place(task))) for task in path.tasks[:MOST_ROWS])
    yield from remark(
        f"the longest chain of needs takes {path.cycles:,} of {whole:,} cycles, each task as long as it ran: {names}",
        look,
    )


def titled(title: str, rows: Sequence, look: Look, columns: Sequence[Column]) -> Iterator[Text]:
    if rows:
        yield Text("")
        head = Text("# " if look.plain else "").append(title, BOLD)
        yield fitted(head, look.width, look) if look.width else head
        yield from table(columns, rows[:MOST_ROWS], look)
        if len(rows) > MOST_ROWS:
            yield from remark(f"{len(rows) - MOST_ROWS:,} more rows (--format csv)", look)


def number(look: Look, value: int) -> Text:
    return Text(count(value, look.plain))


def size(look: Look, value: int) -> Text:
    return Text(str(value) if look.plain else nbytes(value) if value else "-")


def through(via: str) -> str:
    return f", {shown(via)}" if via else ""


def flow_columns(look: Look) -> list[Column]:
    def told(row) -> Text:
        other = f"{shown(row.target)}{through(row.via)}" if row.target else shown(row.via)
        return Text(f"{shown(row.source)} {row.kind} {other}")

    return [
        Column("bytes", lambda r: size(look, r.nbytes), gap=0),
        Column("count", lambda r: number(look, r.count), 1),
        Column("origin", lambda r: Text(r.origin), 2, left=True),
        Column("relation", told, left=True),
    ]


def waste_columns(look: Look) -> list[Column]:
    def told(row) -> Text:
        beside = f" ({shown(row.other)})" if row.other else ""
        return Text(f"{shown(row.task)}: {row.kind}{beside}{through(row.via)}")

    return [
        Column("bytes", lambda r: size(look, r.nbytes), gap=0),
        Column("count", lambda r: number(look, r.count), 1),
        Column("what", told, left=True),
    ]


def pair_columns(related: TaskReport, look: Look) -> list[Column]:
    def name(task: int) -> str:
        return f"{shown(related.tasks.name(related.tasks.place(task)))} (task {task})"

    return [
        Column("bound", lambda p: number(look, p.bound_cycles), gap=0),
        Column("order", lambda p: Text(p.kind), 1, left=True),
        Column("tasks", lambda p: Text(f"{name(p.source)} and {name(p.target)}"), left=True),
    ]


def neighbour_columns(look: Look) -> list[Column]:
    return [
        Column("task", lambda r: Text("-" if r.task is None else str(r.task)), gap=0),
        Column("bytes", lambda r: size(look, r.nbytes)),
        Column("origin", lambda r: Text(r.origin), 1, left=True),
        Column("relation", lambda r: Text(f"{r.kind} {shown(r.name)}{through(r.via)}"), left=True),
    ]


def touch_columns(look: Look) -> list[Column]:
    return [
        Column("task", lambda r: Text(str(r.task)), gap=0),
        Column("access", lambda r: Text("writes" if r.is_write else "reads"), left=True),
        Column("bytes", lambda r: size(look, r.nbytes)),
        Column("first", lambda r: number(look, r.first), 2),
        Column("end", lambda r: number(look, r.end), 3),
        Column("exact", lambda r: Text("yes" if r.is_exact else "no"), 4, left=True),
        Column("name", lambda r: Text(shown(r.name)), left=True),
    ]


FLOW = ("source", "kind", "target", "via", "nbytes", "count", "origin")
WASTE = ("task", "kind", "other", "via", "nbytes", "count")
NEIGHBOUR = ("kind", "task", "name", "via", "nbytes", "origin")
TOUCH = ("task", "name", "is_write", "nbytes", "first", "end", "is_exact")


def of_chosen(related: TaskReport, look: Look) -> Iterator[Text]:
    for title, items in related.neighbours:
        yield from titled(shown(title), items, look, neighbour_columns(look))
        if not items:
            yield from remark(f"{shown(title)} is related to nothing", look)
    for title, touches in related.touches:
        yield from titled(shown(title), touches, look, touch_columns(look))
        if not touches:
            yield from remark(f"no task is known to read or write {shown(title)}", look)


def tables(report: Report) -> Iterator[tuple[str, Sequence[str], Sequence]]:
    related = report.tasks
    yield "relations", FLOW, related.flows
    yield "not needed", WASTE, related.waste
    yield "could run at the same time", ("source", "target", "kind", "bound_cycles"), related.pairs
    for title, items in related.neighbours:
        yield title, NEIGHBOUR, items
    for title, touches in related.touches:
        yield title, TOUCH, touches


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    for title, names, items in tables(report):
        if items or (title == "relations" and request.task is None):
            yield ["Table", cell(title)]
            yield list(names)
            for row in items:
                yield [cell(getattr(row, name)) for name in names]


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    """The same of each kernel: relations are the whole program's."""
    by_title = {title: [row._asdict() for row in rows_] for title, _, rows_ in tables(report)}
    return {"relations": by_title | {"path": report.tasks.path._asdict()}}


PAGE = Page(text, rows, objects)
