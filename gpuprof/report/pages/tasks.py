"""The tasks page: the tree of tasks, each with its time and that of its parts."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from gpuprof.correlate.tasks.task_queries import Tasks
from gpuprof.report.formats import cell
from gpuprof.report.model import Kernel, Report
from gpuprof.report.number_text import count, percent
from gpuprof.report.pages.page_kind import Page, Request
from gpuprof.report.tasks.read_tasks import MOST_LINES, Node
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import Look, remark, shown

NO_TASKS = "no tasks: the recording is of an older gpuprof, or was stopped before the first one ended"

ONLY_CHOSEN = "only tasks of the requested launches, and those that they are parts of, which have all of their time"


def begin(tasks: Tasks, node: Node) -> int:
    return min(tasks.value("begin_cycle", place) for place in node.places)


def end(tasks: Tasks, node: Node) -> int:
    return max(tasks.value("end_cycle", place) for place in node.places)


def total(tasks: Tasks, node: Node, column: str) -> int:
    return sum(tasks.value(column, place) for place in node.places)


def label(tasks: Tasks, node: Node) -> str:
    place = node.places[0]
    name = shown(tasks.name(place))
    name = f"({name})" if tasks.value("is_virtual", place) else name
    return f"{name} x {node.n_tasks:,}" if node.n_tasks > 1 else name


def whole_cycles(tasks: Tasks) -> int:
    """The time from the first begin to the last end."""
    begins, ends = tasks.columns["begin_cycle"], tasks.columns["end_cycle"]
    known = begins >= 0
    return int(ends[known].max() - begins[known].min()) if known.any() else 0


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    yield Text("")
    related = report.tasks
    tasks, whole = related.tasks, whole_cycles(related.tasks)
    if not len(tasks):
        yield from remark(NO_TASKS, look)
        return

    def number(value: int) -> Text:
        return Text("-" if value < 0 else count(value, look.plain))

    def duration(node: Node) -> int:
        return end(tasks, node) - begin(tasks, node)

    columns = [
        Column("task", lambda n: Text(str(tasks.value("task", n.places[0]))), gap=0),
        Column("begin", lambda n: number(begin(tasks, n)), 1),
        Column("cycles", lambda n: number(duration(n) if begin(tasks, n) >= 0 else -1)),
        Column("own", lambda n: number(total(tasks, n, "own_cycles")), 2),
        Column("parts", lambda n: number(total(tasks, n, "parts_cycles")), 3),
        Column("share", lambda n: Text(percent(duration(n), whole)), 4),
        Column("hottest", lambda n: Text(report.vocabulary.word(n.hottest) if n.hottest >= 0 else "-"), 5, left=True),
        Column("row", lambda n: Text(shown(tasks.row(n.places[0]))), 6, left=True),
        Column("name", lambda n: Text("  " * n.depth + label(tasks, n)), left=True),
    ]
    yield from table(columns, related.tree[:MOST_LINES], look)
    if len(related.tree) > MOST_LINES:
        yield from remark(f"{len(related.tree) - MOST_LINES:,} more lines (--format csv)", look)
    if related.shown is not None:
        yield from remark(ONLY_CHOSEN, look)


def task_values(tasks: Tasks, place: int) -> dict:
    """A task as CSV and JSON have it; None for what it has not."""
    numbers = {name: tasks.value(name, place) for name in HEADINGS if name in tasks.columns and name not in WORDS}
    known = {name: None if value < 0 else value for name, value in numbers.items()}
    return known | {"kind": tasks.kind(place), "name": tasks.name(place), "row": tasks.row(place)}


WORDS = ("kind", "name", "row")
HEADINGS = {
    "task": "Task",
    "parent": "Parent",
    "kind": "Kind",
    "is_virtual": "Virtual",
    "name": "Name",
    "row": "Row",
    "launch": "Launch",
    "begin_order": "Begin Order",
    "end_order": "End Order",
    "begin_cycle": "Begin Cycle",
    "end_cycle": "End Cycle",
    "own_cycles": "Own Cycles",
    "parts_cycles": "Parts Cycles",
}


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    yield list(HEADINGS.values())
    tasks = report.tasks.tasks
    for place in report.tasks.places():
        values = task_values(tasks, place)
        yield [cell(values[name]) for name in HEADINGS]


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    tasks, launches = report.tasks.tasks, {launch.launch for launch in kernel.launches}
    places = [place for place, launch in enumerate(tasks.columns["launch"].tolist()) if launch in launches]
    return {"tasks": [task_values(tasks, place) for place in places]}


PAGE = Page(text, rows, objects)
