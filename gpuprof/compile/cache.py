"""Keeps compiled modules between runs, in the folder "ptx" of `base.folders`, as `base.caching.entries` does.

An entry is named by a digest of everything known before compiling (source text, flags, the compiler's environment, tool
versions, this package's own files) and holds the digests of the headers that the compiler found on the way; it serves
only while those are unchanged. As with other such caches, a new header that would now be found earlier in the search
path goes unseen.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from gpuprof.base import ptx_strings
from gpuprof.base.caching import entries
from gpuprof.base.caching.entries import MODULES, digest
from gpuprof.base.dependencies.compiler_variables import EPOCH, VARIABLES
from gpuprof.base.inputs import CACHED, HEADER, read_input
from gpuprof.compile.module import PtxModule
from gpuprof.cuda import FORWARDING, INCLUDE
from gpuprof.errors import UsageError
from gpuprof.isa import facts


def environment() -> dict[str, str]:
    """The environment of a compiler. __DATE__ and __TIME__ are those of 1970, unless the user fixes others: what is
    compiled today is what is compiled tomorrow.
    """
    return {EPOCH: "0"} | os.environ


def environment_parts() -> list[str]:
    """The variables of the environment that are part of an entry's name, as NAME=VALUE."""
    return [f"{name}={value}" for name in VARIABLES if (value := environment().get(name)) is not None]


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
    payload = entries.stored(MODULES, key)
    if payload is None:
        return None
    entry = json.loads(payload)
    if any(file_digest(path) != known for path, known in entry["headers"].items()):
        return None
    return PtxModule.from_dict(entry["module"])


def values(key: str) -> dict | None:
    """The values stored under a key by `store_values`, if they are whole."""
    try:
        return json.loads(read_input(entries.folder(MODULES) / key, CACHED))
    except (OSError, UsageError, ValueError):
        return None


def store_values(key: str, new: dict) -> None:
    """Stores plain values. A cache that cannot be written is only slower, so nothing is raised."""
    with contextlib.suppress(OSError):
        entries.write(entries.folder(MODULES) / key, json.dumps(new).encode())


def store(key: str, module: PtxModule, headers: Iterable[str]) -> None:
    """Writes a module's entry. Raises nothing when it cannot be written."""
    stored = {"headers": {path: file_digest(path) for path in headers}, "module": module.as_dict()}
    entries.store(MODULES, key, json.dumps(stored).encode())
