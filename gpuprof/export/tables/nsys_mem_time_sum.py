"""`nsys stats --report cuda_gpu_mem_time_sum`: time of copies and fills by their direction."""

import sqlite3
from pathlib import Path

from gpuprof.export.tables.nsys_rows import read_works, write_times


def write(database: sqlite3.Connection, path: Path) -> None:
    """Raises NotComparable where no copy or fill has a time."""
    write_times(path, ((work.name, work.duration) for work in read_works(database)), "Count", "Operation")
