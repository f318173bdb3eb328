"""Files: output that appears whole or not at all, and one wording for input that cannot be read."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import gethostname

from gpuprof.errors import GpuprofError, UsageError

ENDING = ".partial"


def unreadable(path: Path | str, error: OSError) -> UsageError:
    """The error for a file of the user's that the system does not let us read."""
    if isinstance(error, FileNotFoundError):
        return UsageError(f"{path}: there is no such file")
    return UsageError(f"{path}: cannot be read: {error.strerror or error}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a name beside `path` to write to; when the block ends well the file takes the place of `path`, else it is removed.

    What a killed run left under such a name goes when the next one of the same `path` begins.
    Raises UsageError when `path` is a folder, GpuprofError when the disk refuses.
    """
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; give a file name")
    beginning = f".{path.name}.{gethostname()}."  # with the machine's name, since folders are shared and process numbers are not
    partial = path.with_name(f"{beginning}{os.getpid()}{ENDING}")
    remove_left(partial.parent, beginning)
    try:
        yield partial
        os.replace(partial, path)
    except OSError as error:
        raise GpuprofError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)


def remove_left(folder: Path, beginning: str) -> None:
    """Remove the files `beginning`NUMBER.partial of processes that are no more."""
    if not folder.is_dir():
        return
    for name in os.listdir(folder):
        number = re.fullmatch(re.escape(beginning) + r"([0-9]{1,9})" + re.escape(ENDING), name)
        if number and not is_running(int(number[1])):
            (folder / name).unlink(missing_ok=True)


def is_running(process: int) -> bool:
    """Whether there is a process of this number, of whoever. Where it cannot be known it may well be."""
    if os.name != "posix":  # elsewhere signal 0 is no question
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
