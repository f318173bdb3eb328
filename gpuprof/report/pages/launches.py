"""The launches page: one row per launch, in order of launch."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.text import Text

from gpuprof.base.cache_control import control_of, timings_text
from gpuprof.report.formats import cell
from gpuprof.report.model import Kernel, Launch, Report
from gpuprof.report.number_text import count, extent, rounded
from gpuprof.report.pages.page_kind import Page, Request
from gpuprof.report.pages.peaks import launch_rates, top_text
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import WARM, Look, shown
from gpuprof.report.totals import overlaps, theoretical_occupancy


class LaunchRow(NamedTuple):
    launch: Launch
    kernel: Kernel


def launch_rows(report: Report) -> list[LaunchRow]:
    rows = [LaunchRow(launch, kernel) for kernel in report.kernels for launch in kernel.launches]
    return sorted(rows, key=lambda row: row.launch.launch)


def own_registers(launch: Launch) -> str:
    """The sampler's registers that were other than the header's: "filter=off, period_cycles=64"."""
    return ", ".join(f"{name}={value}" if value != "" else f"no {name}" for name, value in launch.sampling.items())


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    def number(value: int) -> Text:
        return Text(count(value, look.plain))

    def when(row: LaunchRow, value: int) -> Text:
        return number(value) if row.launch.complete or row.launch.end_cycle else Text("-")

    def occupancy(row: LaunchRow) -> Text:
        value = theoretical_occupancy(row.launch, report.chip)
        return Text("-" if value is None else f"{100 * value:.1f}%")

    def complete(row: LaunchRow) -> Text:
        return Text("yes") if row.launch.complete else Text("no", WARM)

    columns = [
        Column("launch", lambda r: Text(str(r.launch.launch)), gap=0),
        Column("cycles", lambda r: when(r, r.launch.cycles)),
        Column("start", lambda r: when(r, r.launch.start_cycle), 4),
        Column("grid", lambda r: Text(extent(r.launch.grid)), 1),
        Column("block", lambda r: Text(extent(r.launch.block)), 2),
        Column("regs", lambda r: Text(str(r.kernel.registers)), 6),
        Column("shared", lambda r: number(r.kernel.shared_nbytes + r.launch.dynamic_shared_nbytes), 7),
        Column("stream", lambda r: Text(str(r.launch.stream)), 8),
        Column("occupancy", occupancy, 5),
        Column("due", lambda r: number(r.launch.samples_due), 10),
        Column("kept", lambda r: number(r.launch.samples_kept), 3),
        Column("dropped", lambda r: number(r.launch.samples_dropped), 9),
        Column("complete", complete, 11),
        Column("kernel", lambda r: Text(shown(r.launch.kernel)), left=True),
    ]
    rows = launch_rows(report)
    beside = overlaps([row.launch for row in rows])
    if any(beside.values()):
        columns[3:3] = [
            Column("end", lambda r: when(r, r.launch.end_cycle), 4),
            Column("beside", lambda r: when(r, beside[r.launch.launch]), 3),
        ]
    tops = {row.launch.launch: top_text(row.launch, report.chip, look.plain) for row in rows}
    if any(top != "-" for top in tops.values()):
        at_due = next(index for index, column in enumerate(columns) if column.title == "due")
        columns.insert(at_due, Column("of_peak", lambda r: Text(tops[r.launch.launch]), 9, left=True))
    at_stream = next(index for index, column in enumerate(columns) if column.title == "stream")
    if any("dependent" in row.launch.metrics for row in rows):
        columns.insert(
            at_stream + 1, Column("dependent", lambda r: Text("yes" if r.launch.metrics.get("dependent") else "-"), 14)
        )
    if any("priority" in row.launch.metrics for row in rows):
        columns.insert(at_stream + 1, Column("priority", lambda r: Text(str(r.launch.metrics.get("priority", 0))), 15))
    if any("parent" in row.launch.metrics for row in rows):
        columns.insert(1, Column("by", lambda r: Text(str(r.launch.metrics.get("parent", "host"))), 3))
    if any(row.launch.sampling for row in rows):
        columns.append(Column("sampler", lambda r: Text(shown(own_registers(r.launch)), WARM), 13, left=True))
    if len(report.header.caches) > 1:
        columns.append(Column("cache", lambda r: Text(shown(str(control_of(r.launch.metrics)))), 8, left=True))
    if any(row.launch.repetitions for row in rows):
        columns.append(Column("timings", lambda r: Text(timings_text(r.launch.repetitions) or "-"), 7, left=True))
    if any(row.launch.task for row in rows):
        columns.append(Column("task", lambda r: Text(shown(r.launch.task)), 12, left=True))
    if any(row.launch.place for row in rows):
        columns.append(Column("place", lambda r: Text(shown(r.launch.place)), 16, left=True))
    yield Text("")
    yield from table(columns, rows, look)


# of a launch: columns of the table `launches`
FACTS = (
    *("launch", "kernel", "grid", "block", "dynamic_shared_nbytes", "stream", "task"),
    *("start_cycle", "end_cycle", "cycles"),
    *("samples_due", "samples_kept", "samples_dropped", "buffer_full", "complete"),
)


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    """A row per launch: the table's columns, then every metric, share of a peak and precision that any launch has."""
    table_rows = launch_rows(report)
    metrics = sorted({metric for row in table_rows for metric in row.launch.metrics} - {"registers"})
    rates = [launch_rates(row.launch, report.chip) for row in table_rows]
    columns = list(dict.fromkeys(name for row_rates in rates for name in row_rates))
    yield [*FACTS, "registers", "theoretical_occupancy", *metrics, *columns, "sampler"]
    for (launch, kernel), row_rates in zip(table_rows, rates, strict=True):
        facts = (getattr(launch, name) for name in FACTS)
        occupancy = rounded(theoretical_occupancy(launch, report.chip))
        measured = (launch.metrics.get(metric) for metric in metrics)
        used = (row_rates.get(name) for name in columns)
        yield [*map(cell, (*facts, kernel.registers, occupancy, *measured, *used, own_registers(launch)))]


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    """Nothing: the launches are in every page's JSON."""
    return {}


PAGE = Page(text, rows, objects)
