"""Files: output that appears whole or not at all, and one wording for input that cannot be read."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import gethostname
from typing import BinaryIO

from gpuprof.base.processes import is_running
from gpuprof.base.scratch import temporary_folder
from gpuprof.errors import GpuprofError, UsageError

ENDINGS = r"\.(partial|pass[0-9]+)"  # of hidden names


def unreadable(path: Path | str, error: OSError) -> UsageError:
    """The error for a file of the user's that the system does not let us read."""
    if isinstance(error, FileNotFoundError):
        return UsageError(f"{path}: there is no such file")
    return UsageError(f"{path}: cannot be read: {error.strerror or error}")


@contextmanager
def replacing(path: Path, keep_old: bool = False) -> Iterator[Path]:
    """Gives a name beside `path` to write to; when the block ends well the file takes the place of `path`, else it is
    removed.

    What a killed run left under such a name goes when the next one of the same `path` begins. With `keep_old` a regular
    file that `path` was is called NAME.old then. A pipe or a device stays what it is: the bytes go into it.
    Raises UsageError when `path` is a folder, GpuprofError when the disk refuses.
    """
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; give a file name")
    with _refusals(path):
        if path.exists() and not path.is_file():
            with open(path, "wb") as out, handing_over(out) as whole:
                yield whole
            return
        remove_what_was_left(path)
        partial = hidden(path, "partial")
        try:
            yield partial
            if keep_old and path.is_file():
                os.replace(path, old_name(path))
            os.replace(partial, path)
        finally:
            with suppress(OSError):  # such as a name that is too long, which is why there is none
                partial.unlink()


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise GpuprofError(f"{path}: cannot be written: {error.strerror}") from None


@contextmanager
def handing_over(out: BinaryIO) -> Iterator[Path]:
    """Gives a temporary name to write to; when the block ends well, the file's bytes go to `out`."""
    with temporary_folder() as folder:
        whole = folder / "whole"
        yield whole
        with open(whole, "rb") as file:
            shutil.copyfileobj(file, out)
        out.flush()


def old_name(path: Path) -> Path:
    """The name that a file gets when a new one takes its place."""
    return path.with_name(path.name + ".old")


def hidden(path: Path, ending: str) -> Path:
    """A name beside `path` for a file of this process that nobody else is to see. `ending`: one of ENDINGS, without the
    dot.
    """
    return path.with_name(f"{_beginning(path)}{os.getpid()}.{ending}")


def _beginning(path: Path) -> str:
    # with the machine's name, since folders are shared and process numbers are not
    return f".{path.name}.{gethostname()}."


def remove_what_was_left(path: Path) -> None:
    """Remove the hidden files beside `path` of processes that are no more."""
    remove_left(path.parent, _beginning(path))


def remove_left(folder: Path, beginning: str) -> None:
    """Remove the files `beginning`NUMBER.partial, and those of the other endings, of processes that are no more."""
    if not folder.is_dir():
        return
    for name in os.listdir(folder):
        number = re.fullmatch(re.escape(beginning) + r"([0-9]{1,9})" + ENDINGS, name)
        if number and not is_running(int(number[1])):
            (folder / name).unlink(missing_ok=True)
