"""A database in the format that a name or a flag asks for."""

import sqlite3
from importlib import import_module
from pathlib import Path

from gpuprof.errors import UsageError
from gpuprof.export import FORMATS


def format_of(path: Path) -> str:
    """The format whose extension the name ends in, the longest one that fits. Raises UsageError when there is none."""
    found = [name for name, entry in FORMATS.items() if path.name.endswith(entry.extension)]
    if not found:
        known = ", ".join(f"{entry.extension} ({name})" for name, entry in FORMATS.items())
        raise UsageError(f"-o {path}: the name ends in no format's extension; give --format, or one of {known}")
    return max(found, key=lambda name: len(FORMATS[name].extension))


def write(database: sqlite3.Connection, path: Path, format_: str, other: sqlite3.Connection | None = None) -> None:
    """`format_`: a key of FORMATS; `other`: the profile to compare with, for those that need one."""
    others = () if other is None else (other,)
    import_module(f"{__package__}.{FORMATS[format_].file}").write(database, path, *others)
