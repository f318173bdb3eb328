"""`nsys stats --report cuda_api_sum`: the host's time in calls, by function."""

import sqlite3
from pathlib import Path

from gpuprof.export.tables.nsys_rows import read_calls, write_times
from gpuprof.isa.printing.printable import printable


def write(database: sqlite3.Connection, path: Path) -> None:
    """Raises NotComparable where there are no calls."""
    write_times(path, ((printable(call.name), call.duration_ns) for call in read_calls(database)), "Num Calls", "Name")
