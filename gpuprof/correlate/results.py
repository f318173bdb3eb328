"""What a database says about the kernels' results."""

import sqlite3

from gpuprof.base.results import Result
from gpuprof.errors import FileFormatError

TYPES = tuple(Result.__annotations__.values())


def read_results(database: sqlite3.Connection) -> list[Result]:
    """All comparisons, in the order made. Raises FileFormatError for a value of another type than its column's."""
    columns = ", ".join(Result._fields)
    return [_result(row) for row in database.execute(f"SELECT {columns} FROM results ORDER BY result")]


def _result(row: tuple) -> Result:
    for name, kind, value in zip(Result._fields, TYPES, row, strict=True):
        if type(value) is not kind:
            raise FileFormatError(
                f"the database's table results has {name} = {str(value)[:40]!r}, which is not {kind.__name__}: "
                "correlate the recording again"
            )
    return Result(*row)
