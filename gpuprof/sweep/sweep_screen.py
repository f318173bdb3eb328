"""A sweep's table as lines of text, in the order of the plan."""

from collections.abc import Iterator, Mapping

from rich.text import Text

from gpuprof.chips.changes import Value
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import DIM, HOT, Look, flow, shown
from gpuprof.sweep.sweep_table import SweepTable

Record = Mapping[str, Value | None]


def lines(swept: SweepTable, look: Look) -> Iterator[Text]:
    """The table's header, then its rows. Columns that do not fit the terminal are left out, the parameters last."""
    yield from _header(swept, look)
    columns = [
        Column("run", lambda record: _text(record["run"]), drop=5),
        Column("chip", lambda record: _text(record["chip"]), left=True),
        *(
            Column(p.name, lambda record, name=p.column: _text(record[name]), left=not p.is_numeric)
            for p in swept.parameters
        ),
        Column("cycles", lambda record: _number(record["cycles"], ",d")),
        *([Column("within", lambda record: _share(record["cycles_within"]), drop=4)] if any_left_out(swept) else []),
        Column("us", lambda record: _number(record["microseconds"], ",.2f"), drop=3),
        Column("speedup", lambda record: _number(record["speedup"], ".2f"), drop=2),
        Column("kernel", _kernel, left=True),
    ]
    yield from table(columns, list(swept.records()), look, rest="a wider terminal, or -o NAME.csv")


def _header(swept: SweepTable, look: Look) -> Iterator[Text]:
    facts = [
        ("gpuprof", [swept.meta["gpuprof"], f"model {swept.meta['timing_model']}"]),
        ("file", [swept.meta["file"]]),
    ]
    facts += [("caches", parts) for parts in [swept.caches()] if parts]
    facts += [("fidelity" if number == 0 else "", line.split("; ")) for number, line in enumerate(swept.trust())]
    for label, parts in facts:
        yield from flow(Text("# " if look.plain else "").append(f"{label:<11}", DIM), list(map(shown, parts)), look)
    yield Text()


def _text(value: Value | None) -> Text:
    return Text("" if value is None else shown(str(value)))


def _number(value: Value | None, form: str) -> Text:
    return Text("-" if value is None else format(value, form))


def any_left_out(swept: SweepTable) -> bool:
    return any(record["cycles_within"] is not None for record in swept.records())


def _share(value: float | None) -> Text:
    return Text("" if value is None else f"{value:.1f} %")


def _kernel(record: Record) -> Text:
    return (
        Text(f"failed: {shown(str(record['error']))}", HOT) if record["error"] is not None else _text(record["kernel"])
    )
