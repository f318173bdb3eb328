"""The folders in which gpuprof caches what makes later runs quicker, chosen in one place.

    $GPUPROF_CACHE                                    as the user names it
    $XDG_CACHE_HOME/gpuprof, else ~/.cache/gpuprof
    $XDG_RUNTIME_DIR/gpuprof                          there until the user logs out
    gpuprof-UID in the folder for temporary files     there until the system clears it

The first usable one is taken. Machine code is executed, so its folder is used only when it belongs to this user, and no
other user can write to it or rename one of its parents. Among temporary files, where every user can make folders, this
holds for all that is cached; the folder is no link either, and no other user can read it.
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
    """path: "/home/me/.cache/gpuprof". is_shared: every user can make folders in its parent. lasts: it is not removed
    at logout or by the system.
    """

    path: Path
    is_shared: bool = False
    lasts: bool = True


class CacheFolder(NamedTuple):
    """A folder that can be used, and why those before it in the list cannot. lasts: it is there tomorrow."""

    path: Path
    refusals: tuple[str, ...] = ()
    lasts: bool = True


def cache_folder(name: str, is_executed: bool) -> CacheFolder:
    """The folder `name` in the first folder that can be used; it is there then. `is_executed`: what lies in it is
    machine code. Raises OSError whose text says why there is none.
    """
    if named := os.environ.get("GPUPROF_CACHE"):
        folder = _made(Path(named).absolute()) / name
        _made(folder)
        if is_executed:
            _check(folder, is_shared=False)
        return CacheFolder(folder)
    refusals = []
    for candidate in _candidates():
        try:
            return CacheFolder(_chosen(candidate, name, is_executed), tuple(refusals), candidate.lasts)
        except OSError as error:
            refusals.append(f"{error.filename or candidate.path}: {error.strerror or error}")
    raise OSError("; ".join(refusals))


def roots() -> list[Path]:
    """The folders that caches may be in: the one that the user names, or else all that are tried."""
    if named := os.environ.get("GPUPROF_CACHE"):
        return [Path(named).absolute()]
    return [candidate.path for candidate in _candidates()]


def _candidates() -> Iterator[Candidate]:
    if base := os.environ.get("XDG_CACHE_HOME"):
        yield Candidate(Path(base).absolute() / NAME)
    elif (home := os.path.expanduser("~")) != "~":  # a user without a home has none
        yield Candidate(Path(home) / ".cache" / NAME)
    if base := os.environ.get("XDG_RUNTIME_DIR"):
        yield Candidate(Path(base).absolute() / NAME, lasts=False)
    if os.name == "posix":  # elsewhere such folders are the user's own, and modes are not what protects them
        yield Candidate(Path(tempfile.gettempdir()).absolute() / f"{NAME}-{os.geteuid()}", is_shared=True, lasts=False)


def _chosen(candidate: Candidate, name: str, is_executed: bool) -> Path:
    """Raises OSError when the folder cannot be used, with the reason and the path."""
    for path in (candidate.path, candidate.path / name):
        _made(path)
        if is_executed or candidate.is_shared:
            _check(path, candidate.is_shared)
    if is_executed or candidate.is_shared:
        _check_parents(candidate.path.parent, candidate.is_shared)
    return path


def _made(path: Path) -> Path:
    """The folder, made for this user only when it did not exist."""
    with suppress(FileExistsError):  # perhaps for a moment, and another user's
        path.mkdir(0o700, parents=True)
    if not os.access(path, os.W_OK | os.X_OK):
        raise _refusal(path, "cannot be written")
    return path


def _check(path: Path, is_shared: bool) -> None:
    """Raises OSError for a folder of another user, or one that others can change; a shared one that is a link, or that
    they can look into.
    """
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | (os.O_NOFOLLOW if is_shared else 0))
    try:
        status = os.fstat(handle)
    finally:
        os.close(handle)
    if status.st_uid != os.geteuid():
        raise _refusal(path, "belongs to another user")
    if status.st_mode & (OTHERS_DO if is_shared else OTHERS_WRITE):
        raise _refusal(path, f"others can use it (chmod {'go=' if is_shared else 'go-w'} makes it yours)")


def _check_parents(parent: Path, is_shared: bool) -> None:
    """Refuses parents that other users could rename: they could swap the folder between this check and its use."""
    if os.name != "posix":
        return
    for path in (parent, *parent.parents):
        if path.stat().st_uid not in (0, os.geteuid()):
            raise _refusal(path, "belongs to another user")
    mode = parent.stat().st_mode
    if is_shared and mode & OTHERS_WRITE and not mode & stat.S_ISVTX:
        raise _refusal(parent, "others can rename what is in it (chmod +t forbids it)")


def _refusal(path: Path, why: str) -> OSError:
    return OSError(None, why, str(path))
