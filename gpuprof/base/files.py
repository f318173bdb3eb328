"""Files: output that appears whole or not at all, and one wording for input that cannot be read."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import gethostname
from typing import BinaryIO

from gpuprof.base.output_targets import check_regular, refused, target_of
from gpuprof.base.processes import is_running
from gpuprof.base.scratch import temporary_folder
from gpuprof.errors import UsageError

ENDINGS = r"\.(partial|pass[0-9]+)"  # of hidden names
MOST_NAME_NBYTES = 128  # of a name in a hidden one, which has at most 255 with the machine's name and the rest
DIGEST_CHARACTERS = 16


def unreadable(path: Path | str, error: OSError) -> UsageError:
    """The error for a file of the user's that the system does not let us read."""
    if isinstance(error, FileNotFoundError):
        return UsageError(f"{path}: there is no such file")
    return UsageError(f"{path}: cannot be read: {error.strerror or error}")


@contextmanager
def replacing(path: Path, keep_old: bool = False) -> Iterator[Path]:
    """Gives a name to write to, in the folder of the file that `path` leads to; when the block ends well the new file
    replaces that one, else it is removed.

    A file that a killed run left under such a name is removed when the next run with the same `path` begins. With
    `keep_old` the replaced file is renamed NAME.old. Anything but a file, such as stdout, gets the bytes when the block
    ends well. Raises UsageError for targets that are never written (`base.output_targets`), GpuprofError when the disk
    refuses.
    """
    target = target_of(path)
    try:
        if target.path is None:
            with target.open() as out, handing_over(out) as complete:
                yield complete
            return
        remove_what_was_left(target.path)
        partial = hidden(target.path, "partial")
        try:
            yield partial
            if keep_old:
                move_aside(target.path)
            take_place(partial, target.path)
        finally:
            with suppress(OSError):
                partial.unlink()
    except BrokenPipeError:  # the reader of stdout has seen enough
        raise
    except OSError as error:
        raise refused(path, error) from None


def move_aside(path: Path) -> None:
    """A file that has this name is called NAME.old then. Raises UsageError when it is no regular file."""
    if os.path.lexists(path):
        check_regular(path, os.lstat(path))
        take_place(path, old_name(path))


def take_place(file: Path, path: Path) -> None:
    """Gives a file another name. Raises UsageError when something other than a regular file has taken that name."""
    if os.path.lexists(path):
        check_regular(path, os.lstat(path))
    os.replace(file, path)


@contextmanager
def handing_over(out: BinaryIO) -> Iterator[Path]:
    """Gives a temporary name to write to; when the block ends well, the file's bytes go to `out`."""
    with temporary_folder() as folder:
        complete = folder / "whole"
        yield complete
        with open(complete, "rb") as file:
            shutil.copyfileobj(file, out)
        out.flush()


def old_name(path: Path) -> Path:
    """The name that a file gets when a new one takes its place."""
    return path.with_name(path.name + ".old")


def hidden(path: Path, ending: str) -> Path:
    """A name in the folder of `path` for a file of only this process. `ending`: one of ENDINGS, without the dot."""
    return Path(f"{process_beginning(path)}{os.getpid()}.{ending}")


def process_beginning(path: Path) -> Path:
    # with the machine's name, since folders are shared and process numbers are not
    return Path(f"{hidden_beginning(path)}{gethostname()}.")


def hidden_beginning(path: Path) -> Path:
    """How the hidden names of `path` begin, up to a dot. The end of a name that is too long for more is replaced by a
    digest.
    """
    name = os.fsencode(path.name)
    if len(name) > MOST_NAME_NBYTES:
        digest = hashlib.sha256(name).hexdigest()[:DIGEST_CHARACTERS]
        name = name[: MOST_NAME_NBYTES - DIGEST_CHARACTERS] + digest.encode()
    return path.parent / f".{os.fsdecode(name)}."


def remove_what_was_left(path: Path) -> None:
    """Removes the hidden files of `path` whose processes have ended."""
    remove_left(path.parent, process_beginning(path).name)


def remove_left(folder: Path, beginning: str) -> None:
    """Remove the files `beginning`NUMBER.partial, and those of the other endings, of processes that are no more."""
    if not folder.is_dir():
        return
    for name in os.listdir(folder):
        number = re.fullmatch(re.escape(beginning) + r"([0-9]{1,9})" + ENDINGS, name)
        if number and not is_running(int(number[1])):
            (folder / name).unlink(missing_ok=True)
