"""Where gpuprof keeps what makes later runs quicker: one place decides for all of it.

    $GPUPROF_CACHE                                    as the user names it
    $XDG_CACHE_HOME/gpuprof, else ~/.cache/gpuprof
    $XDG_RUNTIME_DIR/gpuprof                          there until the user logs out
    gpuprof-UID in the folder for temporary files     there until the system clears it

The first that can be used is taken. Machine code that lies there is executed, so a folder counts only when it belongs
to this user and nobody else can write to it. Among temporary files, where everybody can make folders, it is no link
either, and nobody else can look into it. What the user names is used as it is, save for machine code.
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

NAME = "gpuprof"
REMEDY = "set GPUPROF_CACHE to a folder that only you can write to"
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
OTHERS_DO = stat.S_IRWXG | stat.S_IRWXO


class Candidate(NamedTuple):
    """path: "/home/me/.cache/gpuprof". is_shared: everybody can make folders beside it. lasts: it is there tomorrow."""

    path: Path
    is_shared: bool = False
    lasts: bool = True


class Kept(NamedTuple):
    """A folder that can be used, and why those before it in the list cannot. lasts: it is there tomorrow."""

    path: Path
    refusals: tuple[str, ...] = ()
    lasts: bool = True


def kept_in(name: str, is_executed: bool) -> Kept:
    """The folder `name` in the first folder that can be used; it is there then. `is_executed`: what lies in it is
    machine code. Raises OSError whose text says why there is none.
    """
    if named := os.environ.get("GPUPROF_CACHE"):
        folder = Path(named).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        if is_executed:
            return Kept(_own(folder / name, is_shared=False))
        (folder / name).mkdir(exist_ok=True)
        return Kept(folder / name)
    refusals = []
    for candidate in _candidates():
        try:
            folder = _own(_own(candidate.path, candidate.is_shared) / name, is_shared=False)
        except OSError as error:
            refusals.append(f"{error.filename or candidate.path}: {error.strerror or error}")
        else:
            return Kept(folder, tuple(refusals), candidate.lasts)
    raise OSError("; ".join(refusals))


def _candidates() -> Iterator[Candidate]:
    if base := os.environ.get("XDG_CACHE_HOME"):
        yield Candidate(Path(base).absolute() / NAME)
    elif (home := os.path.expanduser("~")) != "~":  # a user without a home has none
        yield Candidate(Path(home) / ".cache" / NAME)
    if base := os.environ.get("XDG_RUNTIME_DIR"):
        yield Candidate(Path(base).absolute() / NAME, lasts=False)
    if os.name == "posix":  # elsewhere such folders are the user's own, and modes are not what protects them
        yield Candidate(Path(tempfile.gettempdir()).absolute() / f"{NAME}-{os.geteuid()}", is_shared=True, lasts=False)


def _own(path: Path, is_shared: bool) -> Path:
    """Makes the folder for this user alone, unless it is there. Raises OSError when it cannot be used, with the reason
    and the path.
    """
    if not is_shared:
        path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):  # perhaps for a moment, and somebody else's: what it is gets looked at now
        path.mkdir(0o700)
    if os.name == "posix":
        _check_parent(path.parent, is_shared)
        _check(path, is_shared)
    if not os.access(path, os.W_OK | os.X_OK):
        raise _refusal(path, "cannot be written")
    return path


def _check(path: Path, is_shared: bool) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | (os.O_NOFOLLOW if is_shared else 0))
    try:
        found = os.fstat(handle)
    finally:
        os.close(handle)
    if found.st_uid != os.geteuid():
        raise _refusal(path, "belongs to another user")
    if found.st_mode & (OTHERS_DO if is_shared else OTHERS_WRITE):
        raise _refusal(path, f"others can use it (chmod {'go=' if is_shared else 'go-w'} makes it yours)")


def _check_parent(parent: Path, is_shared: bool) -> None:
    """Who may rename a folder can put another one in its place after it has been looked at."""
    found = parent.stat()
    if found.st_uid not in (0, os.geteuid()):
        raise _refusal(parent, "belongs to another user")
    if is_shared and found.st_mode & OTHERS_WRITE and not found.st_mode & stat.S_ISVTX:
        raise _refusal(parent, "others can rename what is in it (chmod +t forbids it)")


def _refusal(path: Path, why: str) -> OSError:
    return OSError(None, why, str(path))
