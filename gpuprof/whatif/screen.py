"""Measured interventions, as lines of a terminal."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from gpuprof.base.wording import installed_version, percent0, plural
from gpuprof.report.number_text import extent, grouped
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import DIM, Look, flow, shown
from gpuprof.timing.state.model_version import MODEL_VERSION
from gpuprof.whatif.choose import Chosen
from gpuprof.whatif.result import WhatIf, bound_speedup
from gpuprof.whatif.rows import Row, label

MOST_LEFT = 12  # lines of what was not measured


def lines(found: WhatIf, look: Look) -> Iterator[Text]:
    yield from labelled("gpuprof", [installed_version(), f"model {MODEL_VERSION}", f"chip {found.chip}"], look)
    for launch, fidelity in zip(found.launches, found.fidelity, strict=True):
        yield Text()
        yield from _of_launch(found, launch, fidelity, look)


def labelled(name: str, parts: Sequence[str], look: Look) -> Iterator[Text]:
    mark = "# " if look.plain else ""
    yield from flow(Text(mark).append(f"{shown(name):<10} ", DIM), [Text(shown(part)) for part in parts], look)


def heading(launch: Chosen, fidelity: str, look: Look) -> Iterator[Text]:
    """The kernel, its launch, and how far the model is off for kernels like it."""
    size = f"grid {extent(launch.grid)}, block {extent(launch.block)}"
    yield from labelled(launch.kernel, [f"launch {launch.launch}", size, f"{grouped(launch.cycles)} cycles"], look)
    if fidelity:
        yield from labelled("fidelity", [fidelity], look)


def _of_launch(found: WhatIf, launch: Chosen, fidelity: str, look: Look) -> Iterator[Text]:
    yield from heading(launch, fidelity, look)
    rows = [row for row in found.rows if row.launch == launch.launch]
    if rows:
        yield from table(COLUMNS, rows, look, rest="a wider terminal, or --json")
    else:
        yield Text("nothing costs 1% of its cycles" if not found.left else "")
    left = [trial for trial in found.left if found.launches[trial.subject].launch == launch.launch]
    if left:
        some = ", ".join(
            f"{label(t.interventions[0])} {t.interventions[0].place} ({bound_speedup(t, launch):.2f})"
            for t in left[:MOST_LEFT]
        )
        more = f" and {len(left) - MOST_LEFT} more" if len(left) > MOST_LEFT else ""
        text = f"{plural(len(left), 'other was', 'others were')} not measured (--all; bound): {some}{more}"
        yield from labelled("left", [text], look)


def _reasons(row: Row) -> Text:
    return Text(", ".join(f"{each.reason} {percent0(each.share)}" for each in row.moved_to))


COLUMNS = [
    Column("speedup", lambda row: Text(f"{row.speedup:.2f}x")),
    Column("cycles", lambda row: Text(grouped(row.cycles_after))),
    Column("bound", lambda row: Text(f"{row.bound_speedup:.2f}x"), drop=2),
    Column("what if", lambda row: Text(shown(row.kind)), left=True),
    Column("where", lambda row: Text(shown(row.place)), left=True),
    Column("then", _reasons, left=True, drop=3, name="the largest stall reasons then"),
]
