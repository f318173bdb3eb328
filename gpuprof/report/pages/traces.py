"""The traces page: the tables of trace generators."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from gpuprof.base.wording import base_name
from gpuprof.correlate.trace_tables import Traced
from gpuprof.report.formats import cell
from gpuprof.report.model import Kernel, Report
from gpuprof.report.number_text import count
from gpuprof.report.pages.findings import location
from gpuprof.report.pages.page_kind import Page, Request
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import BOLD, Look, remark, shown

ADDRESSES = ("pc", "address")  # names of columns, or their last words
MOST_ROWS = 20  # of a table on a terminal and in a pipe; CSV and JSON have all


NO_TABLES = "no tables of trace generators: gpuprof collect --trace NAME makes them"


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    overview = [
        Column("table", lambda t: Text(name_of(t)), left=True, gap=0),
        Column("rows", lambda t: Text(count(len(t.rows), look.plain))),
        Column("columns", lambda t: Text(str(len(t.table.columns))), 1),
        Column("holds", lambda t: Text(shown(t.table.text)), 2, left=True),
    ]
    yield Text("")
    yield from table(overview, report.traces, look)
    if not report.traces:
        yield from remark(NO_TABLES, look)
    for traced in report.traces:
        yield Text("")
        yield Text("# " if look.plain else "").append(name_of(traced), BOLD)
        yield from table(columns_of(traced, report, look.plain), traced.rows[:MOST_ROWS], look)
        if len(traced.rows) > MOST_ROWS:
            yield from remark(f"{len(traced.rows) - MOST_ROWS:,} more rows (--format csv)", look)


def name_of(traced: Traced) -> str:
    return f"{traced.table.generator}.{traced.table.table}"


def columns_of(traced: Traced, report: Report, plain: bool) -> list[Column]:
    """The launch, then the table's own, code addresses with their source lines; those further to the right go first."""

    def line(place: int):
        def show(row: tuple) -> Text:
            path, number = location(report, row[place])
            return Text(shown(f"{base_name(path)}:{number}") if number else "-")

        return show

    def value(place: int, is_address: bool):
        def show(row: tuple) -> Text:
            item = row[place]
            if isinstance(item, str):
                return Text((shown(item).replace(" ", "_") or "-") if plain else shown(item))
            if isinstance(item, float):
                return Text(f"{item:g}")
            if is_address:
                return Text(f"{item:#x}" if item >= 0 else "-")
            return Text(count(item, plain) if item >= 0 else str(item))

        return show

    names = [("launch", "integer"), *((column.name, column.type) for column in traced.table.columns)]
    columns = []
    for place, (name, type_) in enumerate(names):
        columns.append(Column(name, value(place, is_address(name)), place, left=type_ == "text", gap=2 if place else 0))
        if is_code(name):
            columns.append(Column(f"{name.removesuffix('pc')}line", line(place), place, left=True))
    return columns


def is_code(name: str) -> bool:
    """True for the address of an instruction."""
    return name == "pc" or name.endswith("_pc")


def is_address(name: str) -> bool:
    """True for an address of code or of memory: it is shown in hexadecimal, and -1 as none."""
    return name in ADDRESSES or name.endswith(tuple(f"_{address}" for address in ADDRESSES))


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    """The list of the tables; then each under its name and its heading, with units."""
    yield ["Table", "Rows", "Columns", "Holds"]
    for traced in report.traces:
        yield [name_of(traced), len(traced.rows), len(traced.table.columns), cell(traced.table.text)]
    for traced in report.traces:
        yield ["Table", name_of(traced)]
        yield [
            "launch",
            *(f"{column.name} ({column.unit})" if column.unit else column.name for column in traced.table.columns),
        ]
        for row in traced.rows:
            yield [cell(value) for value in row]


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    launches = {launch.launch for launch in kernel.launches}
    return {
        "traces": [
            {
                "generator": traced.table.generator,
                "table": traced.table.table,
                "text": traced.table.text,
                "columns": [
                    {"name": column.name, "type": column.type, "unit": column.unit, "text": column.text}
                    for column in traced.table.columns
                ],
                "rows": [list(row) for row in traced.rows if row[0] in launches],
            }
            for traced in report.traces
        ]
    }


PAGE = Page(text, rows, objects)
