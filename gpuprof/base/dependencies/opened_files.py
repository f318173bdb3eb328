"""Logs the files that a run opens: `gpuprof check` runs an entry again only when one of them has changed.

    $GPUPROF_OPENED_FILES = a log ─ this process, and the runtime library in a program's ─> lines of it
    log ─ read_log ─> Opened

Python reports every file that it opens to its audit hooks (PEP 578): sources, headers that a compiler found, modules of
a script, arrays. The runtime library has the C library's functions that open files (runtime/opened.cpp).
Files that a process opens by other means are not seen: a child of a script or of a program, or an extension module in
C.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

VARIABLE = "GPUPROF_OPENED_FILES"
READ, WRITTEN, LISTED = "r", "w", "l"  # the first character of a line; the rest is an absolute path
# An import, and a question for a package's version, look into each folder of sys.path: a new file there is no input.
_IMPORTERS = ("<frozen importlib._bootstrap_external>", os.path.join("importlib", "metadata", "__init__.py"))
_LISTINGS = ("os.listdir", "os.scandir")


class Opened(NamedTuple):
    """Absolute paths. `read`: files that were opened to be read, also in vain; without those that the run itself wrote
    before. `listed`: folders whose entries were listed."""

    read: frozenset[str]
    listed: frozenset[str]


def log_opened_files() -> None:
    """From here on, and as long as this process runs, writes a line for each file that is opened; only when the
    environment names a log. It is opened once: a script may change the environment.
    """
    if not (name := os.environ.get(VARIABLE)):
        return
    log = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    seen: set[str] = set()

    def hook(event: str, arguments: tuple) -> None:
        for line in _lines(event, arguments):
            if line not in seen:
                seen.add(line)
                os.write(log, os.fsencode(line) + b"\0")

    sys.addaudithook(hook)


def _lines(event: str, arguments: tuple) -> Iterator[str]:
    if event == "open":
        path, _, flags = arguments
        if isinstance(path, str | bytes | os.PathLike):
            is_read = flags & os.O_ACCMODE != os.O_WRONLY and not flags & os.O_TRUNC
            yield (READ if is_read else WRITTEN) + _absolute(path)
    elif event in _LISTINGS and not _is_import():
        path = arguments[0]
        if path is None or isinstance(path, str | bytes | os.PathLike):
            yield LISTED + _absolute(path or ".")
    elif event == "subprocess.Popen":
        executable, words, *_ = arguments
        yield from (
            READ + path for path in _programs([executable, *words] if isinstance(words, list | tuple) else [executable])
        )


def _is_import() -> bool:
    return sys._getframe(3).f_code.co_filename.endswith(_IMPORTERS)  # past this, the generator and the hook


def _programs(words: Iterable) -> Iterator[str]:
    """The programs among the words of a command, as far as they are whole paths: a shell that sets limits starts the
    compiler. nvcc starts two more.
    """
    for word in words:
        path = os.fsdecode(word) if isinstance(word, str | bytes | os.PathLike) else ""
        is_shell = os.path.basename(path) == "sh"
        if os.path.isabs(path) and not is_shell and os.path.isfile(path) and os.access(path, os.X_OK):
            yield path
            if os.path.basename(path).startswith("nvcc"):
                folder = os.path.dirname(os.path.realpath(path))
                yield from (os.path.normpath(os.path.join(folder, each)) for each in ("ptxas", "../nvvm/bin/cicc"))


def _absolute(path: str | bytes | os.PathLike) -> str:
    return os.path.abspath(os.fsdecode(path))


def read_log(log: Path) -> Opened:
    """The files of a log, of all processes that wrote it. One that was written first is no input."""
    first: dict[str, str] = {}
    listed = set()
    for line in log.read_bytes().split(b"\0")[:-1]:
        kind, path = chr(line[0]), os.fsdecode(line[1:])
        if kind == LISTED:
            listed.add(path)
        else:
            first.setdefault(path, kind)
    return Opened(frozenset(path for path, kind in first.items() if kind == READ), frozenset(listed))
