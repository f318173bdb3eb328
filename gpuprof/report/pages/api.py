"""The api page: the CUDA API calls of a program, the bytes that its copies moved, and the call sites."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rich.text import Text

from gpuprof.correlate.api_calls import ApiCall
from gpuprof.correlate.tasks.host_clock import ns_of
from gpuprof.report.formats import cell
from gpuprof.report.model import Kernel, Report
from gpuprof.report.number_text import count, nbytes, percent
from gpuprof.report.pages.page_kind import Page, Request
from gpuprof.report.tasks.program_time import GAPS, Engine, Gap, ProgramTime
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import Look, remark, shown

NO_CALLS = "no calls: only whole programs have them (gpuprof collect app.cu -- args)"
MOST_PLACES = 50  # on a terminal


class Group(NamedTuple):
    """Calls that have something in common."""

    name: str
    calls: tuple[ApiCall, ...]

    @property
    def total_ns(self) -> int:
        return sum(call.duration_ns for call in self.calls)

    @property
    def waited_ns(self) -> int:
        return sum(call.waited_ns for call in self.calls)

    @property
    def nbytes(self) -> int:
        return sum(call.nbytes for call in self.calls)

    @property
    def failed(self) -> int:
        return sum(call.status != 0 for call in self.calls)


def groups(calls: Sequence[ApiCall], key: Callable[[ApiCall], str]) -> list[Group]:
    """Calls grouped by `key`, longest total first; calls whose key is "" are left out."""
    by_name: dict[str, list[ApiCall]] = {}
    for call in calls:
        if name := key(call):
            by_name.setdefault(name, []).append(call)
    made = [Group(name, tuple(group)) for name, group in by_name.items()]
    return sorted(made, key=lambda group: (-group.total_ns, group.name))


def by_place(calls: Sequence[ApiCall]) -> list[Group]:
    """Groups of the calls of one function at one line."""
    return groups(calls, lambda call: f"{call.place}  {call.name}" if call.place else "")


def time_text(nanoseconds: float, plain: bool) -> Text:
    """A duration in microseconds, or in nanoseconds in a pipe."""
    return Text(f"{nanoseconds:.0f}" if plain else f"{nanoseconds / 1000:,.1f}")


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    yield Text("")
    if not report.calls:
        yield from remark(NO_CALLS, look)
        if report.program:
            yield from of_program(report.program, look)
        return
    unit = "ns" if look.plain else "us"
    whole = sum(call.duration_ns for call in report.calls)

    def amount(value: int) -> Text:
        return Text(count(value, look.plain))

    def each(value: Callable[[Group], float]) -> Callable[[Group], Text]:
        return lambda group: time_text(value(group), look.plain)

    shared = [
        Column("calls", lambda g: amount(len(g.calls)), gap=0),
        Column(f"time_{unit}", each(lambda g: g.total_ns), name="time"),
        Column("share", lambda g: Text(percent(g.total_ns, whole)), 1),
        Column(f"waited_{unit}", each(lambda g: g.waited_ns), 2, name="waited"),
    ]
    single = [
        Column(f"mean_{unit}", each(lambda g: g.total_ns / len(g.calls)), 3, name="mean"),
        Column(f"least_{unit}", each(lambda g: min(call.duration_ns for call in g.calls)), 5, name="least"),
        Column(f"most_{unit}", each(lambda g: max(call.duration_ns for call in g.calls)), 4, name="most"),
        Column("failed", lambda g: amount(g.failed), 6),
    ]
    moved = [
        Column("bytes", lambda g: Text(str(g.nbytes) if look.plain else nbytes(g.nbytes)), 1),
        Column("GB/s", lambda g: Text(f"{g.nbytes / g.total_ns:.3g}" if g.total_ns else "-"), 4),
    ]
    named = [Column("call", lambda g: Text(shown(g.name)), left=True)]
    yield from table([*shared, *single, *named], groups(report.calls, lambda call: call.name), look)
    copies = groups(report.calls, lambda call: call.direction)
    if copies:
        yield Text("")
        direction = [Column("direction", lambda g: Text(g.name), left=True)]
        yield from table([*shared, *moved, *direction], copies, look)
    places = by_place(report.calls)
    if places:
        yield Text("")
        where = [Column("place", lambda g: Text(shown(g.name)), left=True)]
        yield from table([*shared, *where], places[:MOST_PLACES], look)
        if len(places) > MOST_PLACES:
            yield from remark(f"{len(places) - MOST_PLACES:,} more places (--format csv)", look)
    if report.program:
        yield from of_program(report.program, look)


class Waits(NamedTuple):
    """The gaps of one cause."""

    cause: str
    gaps: tuple[Gap, ...]

    @property
    def cycles(self) -> int:
        return sum(gap.cycles for gap in self.gaps)

    @property
    def longest(self) -> Gap:
        return max(self.gaps, key=lambda gap: gap.cycles)


def waits_of(program: ProgramTime) -> list[Waits]:
    """By cause, the longest sum first."""
    by_cause = {cause: tuple(gap for gap in program.gaps if gap.cause == cause) for cause in GAPS}
    found = [Waits(cause, gaps) for cause, gaps in by_cause.items() if gaps]
    return sorted(found, key=lambda waits: -waits.cycles)


def of_program(program: ProgramTime, look: Look) -> Iterator[Text]:
    """Tables of the engines, and of what the GPU waited for while no kernel ran."""
    unit, clock = "ns" if look.plain else "us", program.clock_mhz

    def time(cycles: int) -> Text:
        return time_text(ns_of(cycles, clock), look.plain)

    def amount(value: int) -> Text:
        return Text(str(value) if look.plain else nbytes(value))

    def rate(engine: Engine) -> Text:
        found = engine.gbytes_per_s(clock)
        return Text("-" if found is None else f"{found:.3g}")

    engines = [
        Column("operations", lambda e: Text(count(len(e.operations), look.plain)), gap=0),
        Column(f"busy_{unit}", lambda e: time(e.busy), name="busy"),
        Column("of program", lambda e: Text(percent(e.busy, program.cycles)), 1),
        Column("bytes", lambda e: amount(e.nbytes), 1),
        Column("GB/s", rate, 2),
        Column("pinned", lambda e: Text(percent(e.pinned_nbytes, e.nbytes)), 3),
        Column("engine", lambda e: Text(e.name), left=True),
    ]
    if program.engines:
        yield Text("")
        yield from table(engines, program.engines, look)
    waits = [
        Column("gaps", lambda w: Text(count(len(w.gaps), look.plain)), gap=0),
        Column(f"time_{unit}", lambda w: time(w.cycles), name="time"),
        Column("of program", lambda w: Text(percent(w.cycles, program.cycles)), 1),
        Column(f"longest_{unit}", lambda w: time(w.longest.cycles), 2, name="longest"),
        Column("before", lambda w: Text(shown(w.longest.next) or "-"), 3, left=True),
        Column("no kernel ran, for", lambda w: Text(w.cause), left=True),
    ]
    if found := waits_of(program):
        yield Text("")
        yield from table(waits, found, look)


HEADINGS = (*ApiCall._fields, "duration_ns")


def values(call: ApiCall) -> dict:
    return call._asdict() | {"duration_ns": call.duration_ns}


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    """A row per call."""
    yield list(HEADINGS)
    for call in report.calls:
        yield [cell(value) for value in values(call).values()]


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    """The calls that launched the kernel."""
    launches = {launch.place for launch in kernel.launches}
    return {"calls": [values(call) for call in report.calls if call.place and call.place in launches]}


def document(report: Report, request: Request) -> dict:
    """The program's gaps; its engines are in the document of every page."""
    return {"gaps": [gap._asdict() for gap in report.program.gaps]} if report.program else {}


PAGE = Page(text, rows, objects, document)
