"""The content of a sweep's plot as plain values: a panel per kernel, in it a line per chip and combination of the other
parameters.
"""

from dataclasses import dataclass

from gpuprof.chips.changes import Value
from gpuprof.sweep.sweep_parameters import Parameter
from gpuprof.sweep.sweep_table import SweepTable

MOST_PANELS = 12


@dataclass(frozen=True)
class Line:
    """`places` are positions on the x axis: values, or, when these are texts, their numbers in order of appearance."""

    label: str
    places: tuple[float, ...]
    cycles: tuple[int, ...]


@dataclass(frozen=True)
class Panel:
    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Figure:
    """`ticks` are (place, text) where the x axis shows names; empty where it shows numbers. `panels_left_out`: kernels
    beyond MOST_PANELS. `notes` say how far the cycles can be trusted."""

    x_label: str
    y_label: str
    ticks: tuple[tuple[float, str], ...]
    panels: tuple[Panel, ...]
    panels_left_out: int = 0
    notes: tuple[str, ...] = ()


def figure_of(table: SweepTable) -> Figure:
    """Cycles against the first parameter with numbers; without one, against the first parameter, or the chip. Launches
    of one kernel in a run are added up; runs that failed are gaps.
    """
    axis = next((p for p in table.parameters if p.is_numeric), next(iter(table.parameters), None))
    cycles = _cycles(table, axis)
    kernels = list(dict.fromkeys(kernel for kernel, _, _ in cycles))
    names = () if axis and axis.is_numeric else tuple(dict.fromkeys(str(x) for _, _, x in cycles))
    panels = tuple(Panel(kernel, _lines(kernel, cycles, names)) for kernel in kernels[:MOST_PANELS])
    label = "chip" if axis is None else f"{axis.name}{f' ({axis.unit})' if axis.unit else ''}"
    return Figure(
        label,
        "cycles",
        tuple((float(i), name) for i, name in enumerate(names)),
        panels,
        max(0, len(kernels) - MOST_PANELS),
        tuple(table.trust()),
    )


def _cycles(table: SweepTable, axis: Parameter | None) -> dict[tuple[str, str, Value], int]:
    """(kernel, line, x) -> cycles."""
    others = [parameter for parameter in table.parameters if parameter is not axis]
    found: dict[tuple[str, str, Value], int] = {}
    for record in table.records():
        if record["cycles"] is None:
            continue
        words = [str(record["chip"])] if axis else []
        line = ", ".join([*words, *(f"{p.name}={record[p.column]}" for p in others)])
        key = (record["kernel"], line, record[axis.column] if axis else record["chip"])
        found[key] = found.get(key, 0) + record["cycles"]
    return found


def _lines(kernel: str, cycles: dict[tuple[str, str, Value], int], names: tuple[str, ...]) -> tuple[Line, ...]:
    labels = dict.fromkeys(label for of, label, _ in cycles if of == kernel)
    lines = []
    for label in labels:
        points = sorted(
            (names.index(str(x)) if names else x, y)
            for (of, own, x), y in cycles.items()
            if (of, own) == (kernel, label)
        )
        lines.append(Line(label, tuple(float(x) for x, _ in points), tuple(y for _, y in points)))
    return tuple(lines)
