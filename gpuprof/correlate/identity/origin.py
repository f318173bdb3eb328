"""Origins of a profile's numbers other than its kernels: where two profiles do not agree in them, their numbers differ
for that, too.
"""

import hashlib
import sqlite3

from gpuprof.isa.printing.printable import printable

NO_HOST = "none"  # launches of no program


def origin(database: sqlite3.Connection, meta: dict[str, str]) -> dict[str, str]:
    """By name: model, chip, chip_sha256, compiler, host."""
    compilers = sorted(compiler for (compiler,) in database.execute("SELECT DISTINCT compiler FROM modules"))
    values = {
        "model": meta["model_version"],
        "chip": meta["chip"],
        # a chip file can change under its name
        "chip_sha256": hashlib.sha256(meta["chip_json"].encode()).hexdigest()[:16],
        "compiler": ", ".join(compilers),
        # a program's requests arrive when its host makes them: which kernels overlap follows from it
        "host": meta.get("host", NO_HOST),
    }
    return {name: printable(value) for name, value in values.items()}
