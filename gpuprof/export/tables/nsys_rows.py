"""Kernels, operations and calls for the reports of `nsys stats`, in nanoseconds of one clock.

The columns are those of Nsight Systems 2025.6 and 2026.1 with `--format csv`: names, order, units and digits. Their
meanings are in its Post-Collection Analysis Guide.
"""

import json
import sqlite3
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpuprof.base.wording import extent_of
from gpuprof.correlate.api_calls import ApiCall, read_api_calls
from gpuprof.correlate.tasks.host_clock import clock_in, ns_of
from gpuprof.correlate.tasks.task_queries import read_tasks
from gpuprof.errors import NotComparable
from gpuprof.isa.printing.printable import printable
from gpuprof.relate.task_kinds import PAGE_FAULTS, PREFETCH, TASKS
from gpuprof.report.formats import csv_of
from gpuprof.report.tasks.program_time import (
    COPIES as COPY_WORK,
    FAULTS,
    FILLS,
    UNKNOWN,
    Operation,
    calls_of,
    read_operations,
    work_of,
)

MEGABYTE = 1_000_000
NO_KERNELS = "nothing to export: no launch of the file has an end; collect again"
NO_CLOCK = "nothing to export: the file does not say the clock of its chip; collect again"
NO_CALLS = "nothing to export: no calls: only whole programs have them (gpuprof collect app.cu -- args)"
NO_OPERATIONS = "nothing to export: the file has no times of copies and fills; collect again"
FILL = "[CUDA memset]"
# Copies by engine, as Nsight Systems calls them.
COPIES = {
    "copy engine in": "[CUDA memcpy Host-to-Device]",
    "copy engine out": "[CUDA memcpy Device-to-Host]",
    "memory": "[CUDA memcpy Device-to-Device]",
    "host": "[CUDA memcpy Host-to-Host]",
}
MANAGED = (TASKS[PAGE_FAULTS], TASKS[PREFETCH])
UNIFIED = {
    "copy engine in": "[CUDA Unified Memory memcpy Host-to-Device]",
    "copy engine out": "[CUDA Unified Memory memcpy Device-to-Host]",
}
LISTED = (COPY_WORK, FILLS, FAULTS)  # nsys has mapped memory in the time of the kernels that touch it


class Kernel(NamedTuple):
    """A launch that has ended. Times in ns; `call`: the task of the call that requested it, UNKNOWN for none."""

    name: str
    stream: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int
    static_nbytes: int  # of shared memory of a block
    dynamic_nbytes: int
    start: int
    end: int
    call: int

    @property
    def duration(self) -> int:
        return self.end - self.start


class Work(NamedTuple):
    """A copy or fill. Times in ns."""

    operation: Operation
    start: int
    end: int

    @property
    def duration(self) -> int:
        return self.end - self.start

    @property
    def name(self) -> str:
        if work_of(self.operation) == FILLS:
            return FILL
        return (UNIFIED if self.is_managed else COPIES)[self.operation.engine]

    @property
    def is_managed(self) -> bool:
        """Managed memory moves."""
        return self.operation.kind in MANAGED


def clock_of(database: sqlite3.Connection) -> float:
    """The chip's clock in MHz. Raises NotComparable where the file does not say it."""
    (chip,) = database.execute("SELECT value FROM meta WHERE key = 'chip_json'").fetchone()
    clock = json.loads(chip).get("clock_mhz")
    if not clock:
        raise NotComparable(NO_CLOCK)
    return float(clock)


def device_of(database: sqlite3.Connection) -> str:
    """The chip with the number of the device, as a trace has it."""
    (name,) = database.execute("SELECT value FROM meta WHERE key = 'chip'").fetchone()
    return f"{printable(name)} (0)"


def read_kernels(database: sqlite3.Connection) -> list[Kernel]:
    """By their starts. Raises NotComparable where there is none."""
    clock_mhz, tasks = clock_of(database), read_tasks(database)
    launches, calls = tasks.columns["launch"], calls_of(tasks)
    is_launch = launches >= 0
    of_launch = dict(zip(launches[is_launch].tolist(), _tasks_of(tasks.columns["task"], calls[is_launch]), strict=True))
    rows = database.execute(
        "SELECT l.launch, l.kernel, l.stream, l.grid, l.block, f.registers, f.shared_nbytes, l.dynamic_shared_nbytes, "
        "l.start_cycle, l.end_cycle FROM launches l JOIN functions f USING (function) WHERE l.complete "
        "ORDER BY l.start_cycle, l.launch"
    )
    found = [
        Kernel(
            printable(kernel),
            stream,
            extent_of(grid),
            extent_of(block),
            *sizes,
            *(round(ns_of(cycle, clock_mhz)) for cycle in (start, end)),
            of_launch.get(launch, UNKNOWN),
        )
        for launch, kernel, stream, grid, block, *sizes, start, end in rows
    ]
    if not found:
        raise NotComparable(NO_KERNELS)
    return found


def _tasks_of(numbers: np.ndarray, places: np.ndarray) -> list[int]:
    return [UNKNOWN if place == UNKNOWN else int(numbers[place]) for place in places.tolist()]


def read_works(database: sqlite3.Connection) -> list[Work]:
    """Copies and fills by their starts. Raises NotComparable where there is none with a time."""
    clock_mhz = clock_in(database)
    tasks = read_tasks(database)
    operations = read_operations(database, tasks, calls_of(tasks)) if clock_mhz else ()
    found = [
        Work(each, *(round(ns_of(cycle, clock_mhz)) for cycle in (each.start, each.end)))
        for each in operations
        if clock_mhz and work_of(each) in LISTED
    ]
    if not found:
        raise NotComparable(NO_OPERATIONS)
    return found


def read_calls(database: sqlite3.Connection) -> list[ApiCall]:
    """Raises NotComparable where there is none."""
    calls = read_api_calls(database)
    if not calls:
        raise NotComparable(NO_CALLS)
    return calls


def sums(named: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    """The values of each name, the largest sum first."""
    by_name: dict[str, list[float]] = {}
    for name, value in named:
        by_name.setdefault(name, []).append(value)
    return dict(sorted(by_name.items(), key=lambda item: (-sum(item[1]), item[0])))


def summary_rows(
    headings: Sequence[str], values: dict[str, list[float]], text: Callable[[float, int], object], has_share: bool
) -> Iterator[list[object]]:
    """A row for each name: its share where there is one, total, count, mean, median, least, most, standard deviation of
    a sample, and the name. `text`: a value with so many digits.
    """
    yield list(headings)
    whole = sum(map(sum, values.values()))
    for name, each in values.items():
        share = [f"{100 * sum(each) / whole if whole else 0:.1f}"] if has_share else []
        deviation = statistics.stdev(each) if len(each) > 1 else 0.0
        middle = (statistics.fmean(each), statistics.median(each))
        ends = (text(min(each), 0), text(max(each), 0))
        yield [
            *share,
            text(sum(each), 0),
            len(each),
            *(text(one, 1) for one in middle),
            *ends,
            text(deviation, 1),
            name,
        ]


def times_text(value: float, digits: int) -> object:
    """Nanoseconds: whole ones, and means with a digit after the point."""
    return f"{value:.1f}" if digits else int(value)


def megabytes_text(value: float, digits: int) -> object:
    return f"{value / MEGABYTE:.3f}"


def time_headings(count: str, name: str) -> tuple[str, ...]:
    ends = ("Min (ns)", "Max (ns)", "StdDev (ns)")
    return ("Time (%)", "Total Time (ns)", count, "Avg (ns)", "Med (ns)", *ends, name)


def write_times(path: Path, named: Iterable[tuple[str, float]], count: str, name: str) -> None:
    """A summary of times by name."""
    write_rows(path, summary_rows(time_headings(count, name), sums(named), times_text, has_share=True))


def write_rows(path: Path, rows: Iterable[Sequence[object]]) -> None:
    path.write_text(csv_of(rows), encoding="utf-8", newline="\n")
