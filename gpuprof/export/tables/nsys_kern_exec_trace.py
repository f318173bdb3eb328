"""`nsys stats --report cuda_kern_exec_trace`: a row for each kernel, with the call that launched it.

The time in the queue is that from the call's end to the kernel's start; it is empty where the kernel starts before.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from gpuprof.correlate.api_calls import ApiCall
from gpuprof.correlate.tasks.host_clock import clock_in
from gpuprof.errors import NotComparable
from gpuprof.export.tables.nsys_rows import NO_OPERATIONS, Kernel, read_calls, read_kernels, write_rows
from gpuprof.isa.printing.printable import printable

HEADINGS = (
    *("API Start (ns)", "API Dur (ns)", "Queue Start (ns)", "Queue Dur (ns)", "Kernel Start (ns)", "Kernel Dur (ns)"),
    *("Total Dur (ns)", "PID", "TID", "DevId", "API Function", "GridXYZ", "BlockXYZ", "Kernel Name"),
)
PROCESS = 1  # there is one
DEVICE = 0


def write(database: sqlite3.Connection, path: Path) -> None:
    """Raises NotComparable where there are no calls and kernels on one clock."""
    if clock_in(database) is None:
        raise NotComparable(NO_OPERATIONS)
    calls = {call.task: call for call in read_calls(database)}
    write_rows(path, [list(HEADINGS), *_rows(read_kernels(database), calls)])


def _rows(kernels: list[Kernel], calls: dict[int, ApiCall]) -> Iterator[list]:
    """By the beginnings of the calls; a kernel that a kernel has launched has no row, as it has no call."""
    called = ((calls[kernel.call], kernel) for kernel in kernels if kernel.call in calls)
    for call, kernel in sorted(called, key=lambda pair: (pair[0].begin_ns, pair[1].start)):
        waited = kernel.start - call.end_ns
        queue = [call.end_ns, waited] if waited > 0 else ["", ""]
        times = [call.begin_ns, call.duration_ns, *queue, kernel.start, kernel.duration, kernel.end - call.begin_ns]
        shape = (" ".join(f"{n:4}" for n in extent) for extent in (kernel.grid, kernel.block))
        yield [*times, PROCESS, PROCESS + call.thread, DEVICE, printable(call.name), *shape, kernel.name]
