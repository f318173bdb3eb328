"""`nsys stats --report cuda_gpu_kern_sum`: time on the GPU by kernel."""

import sqlite3
from pathlib import Path

from gpuprof.export.tables.nsys_rows import read_kernels, write_times


def write(database: sqlite3.Connection, path: Path) -> None:
    """Raises NotComparable where no launch has ended."""
    write_times(path, ((kernel.name, kernel.duration) for kernel in read_kernels(database)), "Instances", "Name")
