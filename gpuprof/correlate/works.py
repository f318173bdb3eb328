"""The work of basic blocks, if the trace generator `intensity` counted it."""

import sqlite3
from typing import NamedTuple

from gpuprof.correlate.trace_tables import read_tables

GENERATOR, TABLE = "intensity", "blocks"
COLUMNS = ("pc", "operations", "global_nbytes")


class BlockWork(NamedTuple):
    pc: int  # of the block's first instruction
    operations: int  # arithmetic, of every precision but int
    nbytes: int  # of global memory


def read_works(database: sqlite3.Connection) -> dict[int, tuple[BlockWork, ...]]:
    """The blocks of each function by address, for the launches in temp.launches_of. Empty if they were not counted; a
    user's own generator of the name may have other tables.
    """
    for table in read_tables(database):
        names = {column.name for column in table.columns if column.type == "integer"}
        if (table.generator, table.table) == (GENERATOR, TABLE) and names.issuperset(COLUMNS):
            return _summed(database, table.name)
    return {}


def _summed(database: sqlite3.Connection, name: str) -> dict[int, tuple[BlockWork, ...]]:
    by_function: dict[int, list[BlockWork]] = {}
    pc, operations, nbytes = COLUMNS
    for function, *work in database.execute(
        f"SELECT w.function, {pc}, SUM({operations}), SUM({nbytes}) FROM {name} JOIN temp.launches_of w USING (launch) "
        f"WHERE {pc} >= 0 GROUP BY w.function, {pc} ORDER BY w.function, {pc}"
    ):
        by_function.setdefault(function, []).append(BlockWork(*work))
    return {function: tuple(works) for function, works in by_function.items()}
