"""The numbers of a kernel that changed, as text with their units: counters, registers, occupancy, rates of hits."""

from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.compare.changes import Change
from gpuprof.compare.difference import KernelDifference
from gpuprof.correlate.metrics import BY_NAME
from gpuprof.report.differences.kernel_sides import SHARES
from gpuprof.report.number_text import grouped
from gpuprof.tables.code import FUNCTIONS

OF_REASONS = "warp_cycles"  # the lines have these
UNKNOWN = "-"


class NumberChange(NamedTuple):
    """Texts for a table; `name` as `gpuprof list metrics` has it."""

    name: str
    old: str
    new: str
    change: str
    unit: str


def changed_numbers(kernel: KernelDifference) -> list[NumberChange]:
    """In the order of the numbers, those whose texts differ; those of stall reasons are left out."""
    found = (
        NumberChange(change.name, _text(change.name, change.old), _text(change.name, change.new), *_difference(change))
        for change in kernel.numbers
        if change.delta and not change.name.startswith(OF_REASONS)
    )
    return [each for each in found if each.old != each.new]


def unit_of(name: str) -> str:
    if name in SHARES:
        return "%"
    return BY_NAME[name].unit if name in BY_NAME else FUNCTIONS.column(name).unit


def _text(name: str, value: int | float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{100 * value:.1f}" if name in SHARES else grouped(int(value))


def _difference(change: Change[str, int | float]) -> Iterator[str]:
    if change.name in SHARES:
        yield f"{100 * change.delta:+.1f}"
    else:
        percent = "" if change.percent is None else f" ({change.percent:+,.1f} %)"
        yield f"{int(change.delta):+,}{percent}"
    yield unit_of(change.name)
