"""The timeline page: tasks as bars, in the order of their beginnings, nested ones under their parents."""

from collections.abc import Iterator, Sequence

import numpy as np
from rich.cells import cell_len
from rich.text import Text

from gpuprof.isa.stalls import NAMES
from gpuprof.report.formats import cell
from gpuprof.report.model import SELECTED, Kernel, Report
from gpuprof.report.number_text import grouped, nbytes, rounded
from gpuprof.report.pages.page_kind import Page, Request
from gpuprof.report.pages.tasks import NO_TASKS, ONLY_CHOSEN, begin, end, label, task_values
from gpuprof.report.tasks import task_activity
from gpuprof.report.tasks.program_time import GAPS, ProgramTime
from gpuprof.report.tasks.read_tasks import MOST_LINES, Node, TaskReport
from gpuprof.report.tasks.timeline_lanes import Lane, in_parts
from gpuprof.report.terminal.styles import BOLD, DIM, HOT, REASON_LOOKS, Look, fitted, remark, shown

PIPE_WIDTH = 100  # characters
NAME_SHARE = 3  # a third of the page is for names
LEAST_NAME, LEAST_BARS = 12, 8  # cells of a terminal
MARK, BAR, POINT = "*", "=", "."
LETTERS = dict(zip(GAPS, "cfpmuhosn?", strict=True))  # of what no kernel runs for
MOST_LETTERS = 8  # of stall reasons that are explained


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    yield Text("")
    related = report.tasks
    nodes = [node for node in related.tree if begin(related.tasks, node) >= 0]
    if not nodes:
        yield from remark(NO_TASKS, look)
        return
    first = min(begin(related.tasks, node) for node in nodes)
    last = max(end(related.tasks, node) for node in nodes)
    width = look.width or PIPE_WIDTH
    longest = max(2 * node.depth + cell_len(label(related.tasks, node)) for node in nodes)
    longest = max([longest, *(len(title(lane)) for lane in related.lanes)])
    names = min(max(LEAST_NAME, width // NAME_SHARE), longest, width - LEAST_BARS - 1)
    room = width - names - 1
    critical = set(related.path.tasks)
    ruler = f"{grouped(first)} to {grouped(last)} cycles"
    yield fitted(Text(" " * max(min(names + 1, width - len(ruler)), 0) + ruler, DIM), width, look)
    row = None
    for node in nodes[:MOST_LINES]:
        place = node.places[0]
        if not node.depth and related.tasks.row(place) != row:
            row = related.tasks.row(place)
            yield fitted(Text(shown(row), BOLD), width, look)
        name = fitted(Text("  " * node.depth + label(related.tasks, node)), names, look)
        name.append(" " * (names - cell_len(name.plain) + 1))
        on_path = any(related.tasks.value("task", index) in critical for index in node.places)
        bar = bars(related, node, first, last, room, critical)
        yield name.append(bar, HOT if on_path else "")
    yield from strips(related, report.chip.sms, first, last, names, room, look)
    yield from pipeline(related.lanes, first, last, names, room, look)
    if report.program:
        yield from of_program(report.program, first, last, names, room, look)
    if len(nodes) > MOST_LINES:
        yield from remark(f"{len(nodes) - MOST_LINES:,} more rows (--format csv)", look)
    if related.shown is not None:
        yield from remark(ONLY_CHOSEN, look)
    yield from remark(
        f"{MARK} on the longest chain of needs ({related.path.cycles:,} cycles), {BAR} other time, {POINT} no time",
        look,
    )


def bars(related: TaskReport, node: Node, first: int, last: int, room: int, critical: set[int]) -> str:
    """A character for each part of the time; a task on the longest chain goes before others, time before none."""
    tasks, length = related.tasks, max(last - first, 1)
    cells = [" "] * room
    for place in node.places:
        start, stop = tasks.value("begin_cycle", place) - first, tasks.value("end_cycle", place) - first
        left = min(start * room // length, room - 1)
        right = max(min(-(-stop * room // length), room), left + 1)
        if start == stop:
            mark = POINT
        else:
            mark = MARK if tasks.value("task", place) in critical else BAR
        for at in range(left, right):
            cells[at] = max(cells[at], mark, key=(" ", POINT, BAR, MARK).index)
    return "".join(cells).rstrip()


def strips(
    related: TaskReport, sms: int | None, first: int, last: int, names: int, room: int, look: Look
) -> Iterator[Text]:
    """How many tenths of the SMs had warps, and what held most warps up, in each cell's part of the time; nothing where
    the file does not say.
    """
    activity = related.activity
    if activity is None or not len(activity.begins) or not sms or last <= first:
        return
    stalls, active = task_activity.in_parts(activity, first, last, room)
    share = np.round(active * room / (last - first) / sms, 6)  # sums of parts of bins are not exact
    tenths = np.minimum(9, np.floor(10 * share)).astype(int)
    numbers = "".join(str(n) if any_ else " " for n, any_ in zip(tenths.tolist(), active > 0, strict=True))
    yield Text(fitted(Text("SMs active, tenths"), names, look).plain.ljust(names + 1)).append(numbers.rstrip())
    waits = stalls.copy()
    waits[:, SELECTED] = 0
    line = Text(fitted(Text("largest stall"), names, look).plain.ljust(names + 1))
    for reason, cycles in zip(waits.argmax(axis=1).tolist(), waits.max(axis=1).tolist(), strict=True):
        shown_as = NAMES[reason]
        line.append(REASON_LOOKS[shown_as].letter if cycles else " ", look.of_reason(shown_as) if cycles else "")
    line.rstrip()
    yield line
    held = waits.sum(axis=0)
    seen = [reason for reason in np.argsort(-held, kind="stable").tolist() if held[reason]]
    letters = (f"{REASON_LOOKS[NAMES[reason]].letter} {look.vocabulary.word(reason)}" for reason in seen[:MOST_LETTERS])
    yield from remark(", ".join(letters), look)


def pipeline(lanes: Sequence[Lane], first: int, last: int, names: int, room: int, look: Look) -> Iterator[Text]:
    """A line for each block of the graphics pipeline: tenths of the time that a unit was at work, of the most waves of
    a shader stage that were in flight; nothing where there are no draws.
    """
    for lane in lanes if last > first else ():
        amounts = in_parts(lane, first, last, room)
        full = amounts.max() if lane.is_stage else 1.0
        tenths = np.clip(np.floor(np.round(10 * amounts / (full or 1.0), 6)), 0, 9).astype(int)
        cells = "".join(str(n) if amount > 0 else " " for n, amount in zip(tenths.tolist(), amounts, strict=True))
        yield Text(fitted(Text(title(lane)), names, look).plain.ljust(names + 1)).append(cells.rstrip())
    if lanes:
        yield from remark("busy: tenths of the time; waves: tenths of the most in flight", look)


def of_program(program: ProgramTime, first: int, last: int, names: int, room: int, look: Look) -> Iterator[Text]:
    """A line for each engine, tenths of the time that it was at work; and one for what no kernel runs for."""
    if last <= first:
        return
    edges = first + (last - first) * np.arange(room + 1) / room
    for engine in program.engines:
        spans = np.array([(each.start, each.end) for each in engine.operations], np.float64)
        shares = _inside(spans, edges)
        tenths = np.clip(np.floor(np.round(10 * shares, 6)), 0, 9).astype(int)
        cells = "".join(str(n) if share > 0 else " " for n, share in zip(tenths.tolist(), shares, strict=True))
        yield Text(fitted(Text(engine.name), names, look).plain.ljust(names + 1)).append(cells.rstrip())
    causes = [cause for cause in GAPS if program.waited(cause)]
    if causes:
        gaps = {
            cause: np.array([gap[:2] for gap in program.gaps if gap.cause == cause], np.float64) for cause in causes
        }
        held = np.array([_inside(gaps[cause], edges) for cause in causes])
        letters = [LETTERS[cause] for cause in causes]
        most = zip(held.argmax(axis=0).tolist(), held.max(axis=0).tolist(), strict=True)
        cells = "".join(letters[cause] if share > 0 else " " for cause, share in most)
        yield Text(fitted(Text("no kernel, for"), names, look).plain.ljust(names + 1)).append(cells.rstrip())
        yield from remark(", ".join(f"{LETTERS[cause]} {cause}" for cause in causes), look)
    rates = ((engine, engine.gbytes_per_s(program.clock_mhz)) for engine in program.engines)
    told = [f"{engine.name}: {nbytes(engine.nbytes)} at {rate:.3g} GB/s" for engine, rate in rates if rate]
    if told:
        yield from remark(", ".join(told), look)


def _inside(spans: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The share of each part between edges that the spans cover, which do not overlap: float64 (parts,)."""
    starts, ends = (np.sort(column) for column in spans.T)
    so_far = _until(starts, edges) - _until(ends, edges)
    return np.diff(so_far) / np.diff(edges)


def _until(cycles: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """For each edge the cycles since each of these that are before it, added up."""
    before = np.searchsorted(cycles, edges, side="right")
    sums = np.concatenate([[0.0], np.cumsum(cycles - edges[0])])
    return before * (edges - edges[0]) - sums[before]


def title(lane: Lane) -> str:
    return f"{lane.block} {'waves' if lane.is_stage else 'busy'}"


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    of_tasks, more = operations_of(report.program), ["Engine", "Bytes", "GB/s"] if report.program else []
    yield ["Row", "Task", "Name", "Begin Cycle", "End Cycle", "Critical", *more]
    tasks, critical = report.tasks.tasks, set(report.tasks.path.tasks)
    for place in report.tasks.places():
        if tasks.value("begin_cycle", place) >= 0:
            task = tasks.value("task", place)
            times = (tasks.value("begin_cycle", place), tasks.value("end_cycle", place))
            row = [cell(tasks.row(place)), task, cell(tasks.name(place)), *times, int(task in critical)]
            yield row + [cell(value) for value in of_tasks.get(task, [None] * len(more))]


def operations_of(program: ProgramTime | None) -> dict[int, list]:
    """Engine, bytes and GB/s of each operation, by its task."""
    if program is None:
        return {}
    return {
        each.task: [each.engine, each.nbytes, rounded(each.gbytes_per_s(program.clock_mhz))]
        for engine in program.engines
        for each in engine.operations
    }


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    tasks, launches = report.tasks.tasks, {launch.launch for launch in kernel.launches}
    critical = set(report.tasks.path.tasks)
    places = [place for place, launch in enumerate(tasks.columns["launch"].tolist()) if launch in launches]
    return {
        "timeline": [
            task_values(tasks, place) | {"critical": tasks.value("task", place) in critical} for place in places
        ]
    }


def document(report: Report, request: Request) -> dict:
    """Operations of the engines, and gaps without a kernel."""
    if not report.program:
        return {}
    operations = sorted(
        (each for engine in report.program.engines for each in engine.operations), key=lambda each: each.start
    )
    return {
        "operations": [each._asdict() for each in operations],
        "gaps": [gap._asdict() for gap in report.program.gaps],
    }


PAGE = Page(text, rows, objects, document)
