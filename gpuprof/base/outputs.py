"""Outputs never destroy: which files a command may overwrite, checked before it works.

A regular file is overwritten when it is empty, when it has the marks of what is written, or when it has the name of the
text format that is written, and never when the command reads it. Anything else takes --force.
"""

import codecs
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.files import old_name, unreadable
from gpuprof.base.output_targets import Target, check_regular, refused, target_of
from gpuprof.errors import UsageError


class Kind(NamedTuple):
    """A kind of file that commands write, and how one is known again."""

    name: str  # as in "a.txt: is no recording"
    marks: tuple[tuple[int, bytes], ...] = ()  # (offset, bytes) that each file of the kind has
    suffixes: tuple[str, ...] = ()  # of a text format, which has no marks: what the names of its files end in
    keeps_old: bool = False  # a file that was there stays as NAME.old
    one_writer: bool = False  # another run that writes the same file meanwhile is refused
    forced_by: str = "--force"  # what a user says to overwrite other files, too

    @property
    def n_marked(self) -> int:
        """Bytes from the start of a file that decide, without a byte order mark."""
        return max((offset + len(mark) for offset, mark in self.marks), default=0)

    def is_of(self, path: Path, start: bytes) -> bool:
        """True when a file that begins with `start` is of this kind."""
        if not self.marks:
            return path.name.endswith(self.suffixes)
        start = start.removeprefix(codecs.BOM_UTF8)
        return all(start[offset : offset + len(mark)] == mark for offset, mark in self.marks)


def check_output(
    name: Path, kind: Kind, inputs: Iterable[Path] = (), force: bool = False, may_be_input: bool = False
) -> Target:
    """Returns the target that the name leads to, once it may be written. Call it before any work.

    `inputs`: files that the command reads; those that are not there do no harm. `may_be_input`: the output may be one
    of them. Raises UsageError for a file that must not be overwritten, and the errors of `target_of`.
    """
    target = target_of(name)
    if target.status is None:
        return target
    inputs = list(inputs)
    _check_overwritten(name, target.path, target.status, kind, [] if may_be_input else inputs, force)
    if kind.keeps_old:
        _check_old(old_name(name), old_name(target.path), kind, inputs, force)
    return target


def _check_old(name: Path, path: Path, kind: Kind, inputs: list[Path], force: bool) -> None:
    """NAME.old is replaced by a file, so a link there would be lost, whatever it leads to."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise refused(name, error) from None
    if stat.S_ISLNK(status.st_mode):
        raise UsageError(f"{name}: is a link, and the previous file would take its place; move it away")
    check_regular(name, status)
    _check_overwritten(name, path, status, kind, inputs, force)


def _check_overwritten(
    name: Path, path: Path, status: os.stat_result, kind: Kind, inputs: list[Path], force: bool
) -> None:
    for source in inputs:
        if _is_same(source, status):
            also = "" if source == name else f"is the same file as {source}, and "
            raise UsageError(f"{name}: {also}is read by this command; give another name")
    if force or not status.st_size or kind.is_of(path, _start(path, kind.n_marked)):
        return
    raise UsageError(
        f"{name}: is no {kind.name}, and would be overwritten; give another name, or {kind.forced_by} to overwrite it"
    )


def _is_same(path: Path, status: os.stat_result) -> bool:
    """True when a name leads to the file with this status: links of both kinds count."""
    try:
        return os.path.samestat(os.stat(path), status)
    except (OSError, ValueError):
        return False


def _start(path: Path, nbytes: int) -> bytes:
    if not nbytes:
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(len(codecs.BOM_UTF8) + nbytes)
    except OSError as error:
        raise unreadable(path, error) from None
