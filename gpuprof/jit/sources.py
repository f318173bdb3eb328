"""The files of the package that decide what a compiled function is: its own, and all that it imports, directly or not.

A compiled function has the constants of other files in it, and the code of the parts that it calls. Numba only checks
the file that a function is defined in. The text of the files is read, not what Python has imported: that differs from
one run to the next.
"""

import functools
import hashlib
import os
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(
    rf"^[ \t]*(?:from ({PACKAGE.name}[\w.]*) import (?:\(([^)]*)\)|(.*))|import ({PACKAGE.name}[\w.]*))", re.MULTILINE
)
_COMMENT = re.compile(r"#.*")


def sources_of(file: Path) -> list[Path]:
    """The file and all files of the package that importing it may bring along, sorted; imports inside functions and
    those only for types count, too.
    """
    sources, todo = {file}, [file]
    while todo:
        new = _imported_by(todo.pop()) - sources
        sources |= new
        todo += new
    return sorted(sources)


def digests_of(file: Path) -> dict[str, str]:
    """SHA-256 of each of `sources_of`, by its path from the package."""
    return {Path(os.path.relpath(source, PACKAGE)).as_posix(): _digest(source) for source in sources_of(file)}


def is_unchanged(digests: dict[str, str]) -> bool:
    """True while the files of `digests_of` are what they were. What they import follows from their text, so no other
    file can have joined them.
    """
    return all(_digest(PACKAGE / name) == digest for name, digest in digests.items())


@functools.cache
def _digest(file: Path) -> str:
    """ "" for a file that is gone."""
    try:
        return hashlib.sha256(_content(file)).hexdigest()
    except FileNotFoundError:
        return ""


@functools.cache
def _content(file: Path) -> bytes:
    return file.read_bytes()


@functools.cache
def _imported_by(file: Path) -> frozenset[Path]:
    imported = set()
    for match in _IMPORT.finditer(_content(file).decode()):
        module = match[1] or match[4]
        source = _file_of(module)
        imported.add(source)
        if source and source.name == "__init__.py":  # a room, whose files can be imported by name
            members = re.split(r"[\s,]+", _COMMENT.sub("", match[2] or match[3] or ""))
            imported.update(_file_of(f"{module}.{member}") for member in members)
    return frozenset(imported - {None})


@functools.cache
def _file_of(module: str) -> Path | None:
    """The file of a module; None for a name that is none, such as a function's."""
    path_stem = PACKAGE.parent.joinpath(*module.split("."))
    return next((path for path in (path_stem.with_suffix(".py"), path_stem / "__init__.py") if path.is_file()), None)
