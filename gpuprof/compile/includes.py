"""The files that a source includes, without those that no compiler should open: a FIFO or a device keeps it waiting, or
never ends.

Only names in the text are looked at; one that a macro makes is left to the compiler's limits (`child`). In a confined
run the compiler itself lists what it would open.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gpuprof.base.confinement import check_inside
from gpuprof.base.inputs import HEADER, check_input, read_input_text
from gpuprof.compile.child import run_child
from gpuprof.compile.source import headers_of
from gpuprof.errors import CompileError, UsageError

# Clang's: print the files that it opens, and what is not there as if it were; compile nothing.
LIST_FILES = ("-M", "-MG", "-MT", "ir", "-")

_INCLUDE = re.compile(r"""^[ \t]*#[ \t]*(?:include|include_next|import|embed)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)""", re.M)
MOST_FILES = 10_000  # a program that includes more is left to the compiler


def included_files(path: str, source: str, include_dirs: Sequence[Path | str]) -> set[Path]:
    """The files that the text of a source leads to, links followed. Raises UsageError, with the line, for one that is
    not regular or too long for a header.
    """
    waiting, seen = [(path, source)], {Path(os.path.realpath(path))}
    while waiting and len(seen) < MOST_FILES:
        name, text = waiting.pop()
        for line, place in _included(name, text, include_dirs):
            if Path(os.path.realpath(place)) in seen:
                continue
            seen.add(Path(os.path.realpath(place)))
            try:
                check_input(place, HEADER)
                waiting.append((str(place), read_input_text(place, HEADER, errors="replace")))
            except UsageError as error:
                raise UsageError(f"{name}:{line}: cannot be included: {error}") from None
    return seen


def check_opened(
    command: Sequence[str], path: str, source: bytes, is_library: Callable[[str], bool], env: dict[str, str]
) -> None:
    """Raises UsageError for a file outside of a confined run's folder that clang would open, whatever names it.
    `command`: clang and its flags; `source`: what it gets on stdin. Its errors are dropped: they may quote such a file.
    """
    done = run_child([*command, *LIST_FILES], path, source, env)
    listed = done.out.decode("utf-8", "replace")
    if not listed:
        raise CompileError(f"{path}: clang does not list the files that it includes, so it is not compiled")
    for header in headers_of(listed):
        if not is_library(header):
            check_inside(header)


def _included(name: str, text: str, include_dirs: Sequence[Path | str]) -> Iterator[tuple[int, Path]]:
    """Line and place of each file that an #include of a text leads to first, as far as it is there."""
    at, line = 0, 1
    for match in _INCLUDE.finditer(text):
        line, at = line + text.count("\n", at, match.start()), match.start()
        folders = [Path(name).parent, *include_dirs] if match[1] else include_dirs
        places = (Path(folder, match[1] or match[2]) for folder in folders or (Path(),))
        file = next((path for path in places if is_there(path)), None)
        if file:
            yield line, file


def is_there(place: Path) -> bool:
    """True if there is a file that a compiler would open; it passes over folders."""
    try:
        return place.exists() and not place.is_dir()
    except (OSError, ValueError):
        return False
