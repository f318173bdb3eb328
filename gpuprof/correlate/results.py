"""What a database says about the kernels' results."""

import sqlite3

from gpuprof.base.compared_results import Result


def read_results(database: sqlite3.Connection) -> list[Result]:
    """All comparisons, in the order made."""
    columns = ", ".join(Result._fields)
    return [Result(*row) for row in database.execute(f"SELECT {columns} FROM results ORDER BY result")]
