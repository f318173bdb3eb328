"""Keeps compiled modules between runs, in the folder "ptx" of `base.folders`, and in the folder "functions" what the
assembler makes of them (`assemble.function_cache`).

An entry is named by a digest of everything known before compiling (source text, flags, the compiler's environment, tool
versions, this package's own files) and holds the digests of the headers that the compiler found on the way; it serves
only while those are unchanged. First line of the file: SHA-256 of the rest, so that a damaged entry is no entry. As
with other such caches, a new header that would now be found earlier in the search path goes unseen.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from threading import get_native_id

from gpuprof.base import ptx_strings
from gpuprof.base.dependencies.compiler_variables import EPOCH, VARIABLES
from gpuprof.base.folders import cache_folder
from gpuprof.base.inputs import CACHED, HEADER, read_input
from gpuprof.base.processes import is_running
from gpuprof.compile.module import PtxModule
from gpuprof.cuda import FORWARDING, INCLUDE
from gpuprof.errors import UsageError
from gpuprof.isa import facts

MODULES, FUNCTIONS = "ptx", "functions"  # folders
_MOST_ENTRIES = 500
_MOST_NBYTES = 1 << 29  # of a folder's entries together
_NEW = ".new-"  # and the numbers of the process and the thread that write it


def folder(name: str = MODULES) -> Path:
    """Raises OSError when there is none that can be used."""
    return cache_folder(name, is_executed=False).path


def environment() -> dict[str, str]:
    """The environment of a compiler. __DATE__ and __TIME__ are those of 1970, unless the user fixes others: what is
    compiled today is what is compiled tomorrow.
    """
    return {EPOCH: "0"} | os.environ


def environment_parts() -> list[str]:
    """The variables of the environment that are part of an entry's name, as NAME=VALUE."""
    return [f"{name}={value}" for name in VARIABLES if (value := environment().get(name)) is not None]


def digest(parts: Iterable[bytes]) -> str:
    """One digest for a list of byte strings; their lengths are part of it."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.hexdigest()


def own_files() -> str:
    """A digest of our own files that what is made of a source depends on."""
    files = (
        *Path(__file__).parent.rglob("*.py"),
        *INCLUDE.rglob("*.h*"),
        FORWARDING,
        *map(Path, (facts.__file__, ptx_strings.__file__)),
    )
    return digest(path.read_bytes() for path in sorted(files))


def file_digest(path: str) -> str:
    """The digest of a file's content; "" when it cannot be read, which no stored digest equals."""
    try:
        return hashlib.sha256(read_input(path, HEADER)).hexdigest()
    except UsageError:
        return ""


def load(key: str) -> PtxModule | None:
    """The module stored under a key, if it is whole and its headers are unchanged."""
    payload = load_bytes(MODULES, key)
    if payload is None:
        return None
    entry = json.loads(payload)
    if any(file_digest(path) != known for path, known in entry["headers"].items()):
        return None
    return PtxModule.from_dict(entry["module"])


def load_bytes(name: str, key: str) -> bytes | None:
    """The bytes that `store_bytes` stored under a key of the folder `name`, if they are whole."""
    try:
        checksum, _, payload = read_input(folder(name) / key, CACHED).partition(b"\n")
    except (OSError, UsageError):  # OSError: no home to look in
        return None
    return payload if hashlib.sha256(payload).hexdigest().encode() == checksum else None


def store_bytes(name: str, key: str, payload: bytes) -> None:
    """Writes an entry. A cache that cannot be written (no home, a full disk) is only slower, so nothing is raised."""
    with contextlib.suppress(OSError):
        entries = folder(name)
        _write(entries / key, hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload)
        _prune(entries)


def values(key: str) -> dict | None:
    """The values stored under a key by `store_values`, if they are whole."""
    try:
        return json.loads(read_input(folder() / key, CACHED))
    except (OSError, UsageError, ValueError):
        return None


def store_values(key: str, new: dict) -> None:
    """Stores plain values. A cache that cannot be written is only slower, so nothing is raised."""
    with contextlib.suppress(OSError):
        _write(folder() / key, json.dumps(new).encode())


def store(key: str, module: PtxModule, headers: Iterable[str]) -> None:
    """Writes a module's entry, as `store_bytes` does."""
    entry = {"headers": {path: file_digest(path) for path in headers}, "module": module.as_dict()}
    store_bytes(MODULES, key, json.dumps(entry).encode())


def _write(path: Path, data: bytes) -> None:
    new = path.with_name(f"{_NEW}{os.getpid()}-{get_native_id()}")
    try:
        new.write_bytes(data)
        os.replace(new, path)  # readers see the old entry or the new one, never half
    finally:
        new.unlink(missing_ok=True)


def _prune(entries: Path) -> None:
    """Removes the oldest entries beyond the limit, and unfinished ones of killed processes."""
    for path in entries.glob(f"{_NEW}*"):
        if not is_running(int(path.name.removeprefix(_NEW).partition("-")[0])):
            path.unlink(missing_ok=True)
    nbytes = 0
    for number, path in enumerate(sorted(entries.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True), 1):
        nbytes += path.stat().st_size
        if number > _MOST_ENTRIES or nbytes > _MOST_NBYTES:
            path.unlink(missing_ok=True)
