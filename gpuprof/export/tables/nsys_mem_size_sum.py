"""`nsys stats --report cuda_gpu_mem_size_sum`: bytes of copies and fills by their direction, in units of 10^6."""

import sqlite3
from pathlib import Path

from gpuprof.export.tables.nsys_rows import megabytes_text, read_works, summary_rows, sums, write_rows

ENDS = ("Min (MB)", "Max (MB)", "StdDev (MB)")
HEADINGS = ("Total (MB)", "Count", "Avg (MB)", "Med (MB)", *ENDS, "Operation")


def write(database: sqlite3.Connection, path: Path) -> None:
    """Raises NotComparable where no copy or fill has a time."""
    sizes = sums((work.name, work.operation.nbytes) for work in read_works(database))
    write_rows(path, summary_rows(HEADINGS, sizes, megabytes_text, has_share=False))
