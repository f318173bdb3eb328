"""Keeps compiled modules between runs, in $GPUPROF_CACHE, else $XDG_CACHE_HOME/gpuprof, else ~/.cache/gpuprof.

An entry is named by a digest of everything known before compiling (source text, flags, tool versions, this package's
own files) and holds the digests of the headers that the compiler found on the way; it serves only while those are
unchanged. First line of the file: SHA-256 of the rest, so that a damaged entry is no entry. As with other such caches,
a new header that would now be found earlier in the search path goes unseen.
"""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from gpuprof.base.inputs import CACHED, HEADER, read_input
from gpuprof.compile.module import PtxModule
from gpuprof.errors import UsageError

_MOST_ENTRIES = 500


def folder() -> Path:
    """Raises OSError when the user has no home to look in."""
    if named := os.environ.get("GPUPROF_CACHE"):
        return Path(named) / "ptx"
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "gpuprof" / "ptx"
    try:
        return Path.home() / ".cache" / "gpuprof" / "ptx"
    except RuntimeError as error:
        raise OSError(str(error)) from None


def digest(parts: Iterable[bytes]) -> str:
    """One digest for a list of byte strings; their lengths are part of it."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.hexdigest()


def own_files() -> str:
    """A digest of this package's own files: what they make of the same source may change with them."""
    return digest(
        path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*")) if path.suffix in (".py", ".h")
    )


def file_digest(path: str) -> str:
    """The digest of a file's content; "" when it cannot be read, which no stored digest equals."""
    try:
        return hashlib.sha256(read_input(path, HEADER)).hexdigest()
    except UsageError:
        return ""


def load(key: str) -> PtxModule | None:
    """The module stored under a key, if it is whole and its headers are unchanged."""
    try:
        checksum, _, payload = read_input(folder() / key, CACHED).partition(b"\n")
    except (OSError, UsageError):  # OSError: no home to look in
        return None
    if hashlib.sha256(payload).hexdigest().encode() != checksum:
        return None
    entry = json.loads(payload)
    if any(file_digest(path) != known for path, known in entry["headers"].items()):
        return None
    return PtxModule.from_dict(entry["module"])


def store(key: str, module: PtxModule, headers: Iterable[str]) -> None:
    """Writes an entry. A cache that cannot be written (no home, a full disk) is only slower, so nothing is raised."""
    payload = json.dumps(
        {"headers": {path: file_digest(path) for path in headers}, "module": module.as_dict()}
    ).encode()
    with contextlib.suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        _write(folder() / key, hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload)
        _prune(folder())


def _write(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    with open(handle, "wb") as file:
        file.write(data)
    os.replace(temporary, path)  # readers see the old entry or the new one, never half


def _prune(entries: Path) -> None:
    oldest_first = sorted(entries.iterdir(), key=lambda path: path.stat().st_mtime)
    for path in oldest_first[:-_MOST_ENTRIES]:
        path.unlink()
