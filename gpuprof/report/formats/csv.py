"""Rows as CSV. Text in a cell has its control characters written out, since people print CSV on terminals."""

import csv
import io
from collections.abc import Iterable, Sequence

from gpuprof.isa.printing.printable import printable


def text_of(rows: Iterable[Sequence[object]]) -> str:
    """Lines that end in a line feed."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def cell(value: object) -> object:
    """A value as a cell: empty for None, 0 or 1 for a flag, "4,4,1" for a grid."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return printable(value) if isinstance(value, str) else value
