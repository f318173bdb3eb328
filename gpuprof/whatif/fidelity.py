"""How sure a measured gain is: how far the model is off for kernels like this one."""

import sqlite3

from gpuprof.report.fidelity_line import words_on_kernels_like
from gpuprof.report.queries import read_report


def words_on(database: sqlite3.Connection, launch: int) -> str:
    """Words on the kernel of a launch; "" where no card was held against kernels like it."""
    report = read_report(database, launches={launch})
    return words_on_kernels_like(dict(database.execute("SELECT key, value FROM meta")), report.kernels)
