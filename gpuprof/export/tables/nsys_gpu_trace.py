"""`nsys stats --report cuda_gpu_trace`: a row for each kernel, copy and fill, by their starts.

CorrId is the number of the call's task, Strm gpuprof's number of the stream (0 is the default stream), Device the
chip's name. The columns of kernels are empty for copies, and the other way round.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from gpuprof.errors import NotComparable
from gpuprof.export.tables.nsys_rows import (
    FILL,
    MEGABYTE,
    NO_KERNELS,
    Kernel,
    Work,
    device_of,
    read_kernels,
    read_works,
    write_rows,
)
from gpuprof.report.tasks.program_time import UNKNOWN

HEADINGS = (
    *("Start (ns)", "Duration (ns)", "CorrId", "GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ", "Reg/Trd"),
    *("StcSMem (MB)", "DymSMem (MB)", "Bytes (MB)", "Throughput (MB/s)", "SrcMemKd", "DstMemKd"),
    *("Device", "Ctx", "GreenCtx", "Strm", "Name"),
)
CONTEXT = 1  # there is one
DEVICE, PINNED, PAGEABLE, MANAGED = "Device", "Pinned", "Pageable", "Managed"


def write(database: sqlite3.Connection, path: Path) -> None:
    """Raises NotComparable where there are no kernels, copies and fills with times."""
    write_rows(path, [list(HEADINGS), *(row for _, row in sorted(_rows(database), key=lambda item: item[0]))])


def _rows(database: sqlite3.Connection) -> Iterator[tuple[tuple, list]]:
    """Rows with their places: start, end, and which is first."""
    device = device_of(database)
    found: list[Kernel | Work] = []
    for read in (read_kernels, read_works):
        try:
            found += read(database)
        except NotComparable:
            continue
    if not found:
        raise NotComparable(NO_KERNELS)
    for number, each in enumerate(found):
        cells = _of_kernel(each) if isinstance(each, Kernel) else _of_work(each)
        call = each.call if isinstance(each, Kernel) else each.operation.call
        stream = each.stream if isinstance(each, Kernel) else each.operation.stream
        own = [each.start, each.duration, "" if call == UNKNOWN else call]
        yield (each.start, each.end, number), [*own, *cells, device, CONTEXT, "", stream, each.name]


def _of_kernel(kernel: Kernel) -> list:
    shared = (f"{nbytes / MEGABYTE:.3f}" for nbytes in (kernel.static_nbytes, kernel.dynamic_nbytes))
    return [*kernel.grid, *kernel.block, kernel.registers, *shared, *[""] * 4]


def _of_work(work: Work) -> list:
    nbytes = work.operation.nbytes
    rate = f"{1000 * nbytes / work.duration:.3f}" if work.duration else ""
    return [*[""] * 9, f"{nbytes / MEGABYTE:.3f}", rate, *_memories(work)]


def _memories(work: Work) -> tuple[str, str]:
    """Kinds of memory of source and destination; a fill's own is the first."""
    host = PINNED if work.operation.is_pinned else PAGEABLE
    if work.name == FILL:
        return DEVICE, ""
    if work.is_managed:
        return MANAGED, MANAGED
    kinds = {"copy engine in": (host, DEVICE), "copy engine out": (DEVICE, host), "host": (host, host)}
    return kinds.get(work.operation.engine, (DEVICE, DEVICE))
