"""Files: output that appears whole or not at all, and one wording for input that cannot be read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gpuprof.errors import GpuprofError, UsageError


def unreadable(path: Path | str, error: OSError) -> UsageError:
    """The error for a file of the user's that the system does not let us read."""
    if isinstance(error, FileNotFoundError):
        return UsageError(f"{path}: there is no such file")
    return UsageError(f"{path}: cannot be read: {error.strerror or error}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a name beside `path` to write to; when the block ends well the file takes the place of `path`, else it is removed.

    Raises UsageError when `path` is a folder, GpuprofError when the disk refuses.
    """
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; give a file name")
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        os.replace(partial, path)
    except OSError as error:
        raise GpuprofError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)
