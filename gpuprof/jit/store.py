"""Files of machine code: what came with gpuprof, and what was compiled on this machine.

The first are in the folder `shipped` here. The others are in $NUMBA_CACHE_DIR, else in the `__pycache__` of the source,
else in a folder of this user's (`base.folders`); where there is none, nowhere. A file is one function, for arguments of
certain kinds and one processor:

    MAGIC, the SHA-256 of all after it, a line of JSON (`Facts`), the object file

It is used while the text of all files that decide it is the same (`sources`), and the versions of Numba and llvmlite.
What is damaged, or can be changed by other users, counts as absent.
"""

import functools
import hashlib
import json
import os
import stat
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.files import replacing
from gpuprof.base.folders import REMEDY, CacheFolder, cache_folder
from gpuprof.jit.processor import processor
from gpuprof.jit.sources import PACKAGE, digests_of, is_unchanged

MAGIC = b"gpuprof machine code 1\n"
SUFFIX = ".code"
SHIPPED = PACKAGE / "jit" / "shipped"
PACKAGES = ("numba", "llvmlite")
# Variables of Numba's that change code (its reference manual), next to those that name a processor.
VARIABLES = (
    *("NUMBA_OPT", "NUMBA_LOOP_VECTORIZE", "NUMBA_SLP_VECTORIZE", "NUMBA_BOUNDSCHECK", "NUMBA_DEBUGINFO"),
    *("NUMBA_ENABLE_AVX", "NUMBA_DISABLE_INTEL_SVML", "NUMBA_LLVM_REFPRUNE_PASS", "NUMBA_LLVM_REFPRUNE_FLAGS"),
)


class Function(NamedTuple):
    """name: "emulate.core.row_kernels.gather". file: that it is in. kinds: of its arguments, as text."""

    name: str
    file: Path
    kinds: str

    @property
    def entry(self) -> str:
        """The name of its entry in an object file."""
        return f"gpuprof.{self.name}({self.kinds})"

    def file_name(self, cpu: str) -> str:
        """No two functions have one; a changed source changes nothing in it."""
        key = hashlib.sha256(f"{self.kinds}\n{cpu}".encode()).hexdigest()[:16]
        return f"{self.name}-{key}{SUFFIX}"


class Found(NamedTuple):
    """code: an object file. names: what it asks for from outside. why_not: why a file that is there was not taken."""

    code: bytes = b""
    names: tuple[str, ...] = ()
    why_not: str = ""


@functools.cache
def versions() -> dict[str, str]:
    """The versions of the packages that compile, by name; found without importing them."""
    return {name: _version(name) for name in PACKAGES}


def _version(name: str) -> str:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return ""
    folder = Path(spec.origin).parents[1]
    return next((path.name.split("-")[1].removesuffix(".dist") for path in folder.glob(f"{name}-*.dist-info")), "")


def settings() -> dict[str, str]:
    """The variables that are set."""
    return {name: os.environ[name] for name in VARIABLES if name in os.environ}


def contents(function: Function, cpu: str, code: bytes, names: list[str]) -> bytes:
    """The contents of a file."""
    facts = {
        "versions": versions(),
        "settings": settings(),
        "cpu": cpu,
        "function": function.entry,
        "names": names,
        "sources": digests_of(function.file),
    }
    rest = json.dumps(facts, sort_keys=True).encode() + b"\n" + code
    return MAGIC + hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest


def find(function: Function) -> Found:
    """The code of a function for this processor; what came with gpuprof first."""
    cpu = processor()
    shipped = read(SHIPPED, function, cpu)
    if not shipped.code and not shipped.why_not and next(SHIPPED.glob(f"{function.name}-*"), None):
        shipped = Found(why_not=f"it is not for {cpu}")
    if shipped.code or (folder := folder_for(function.file)) is None:
        return shipped
    own = read(folder, function, cpu)
    return own if own.code else own._replace(why_not=shipped.why_not)


def read(folder: Path, function: Function, cpu: str) -> Found:
    """The code of a function that lies in a folder."""
    path = folder / function.file_name(cpu)
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            data = file.read()
    except OSError:
        return Found()
    if not _is_trusted(status) or not _is_trusted(path.parent.stat()):
        return Found(why_not=f"others can write to {path}")
    head, _, rest = data.removeprefix(MAGIC).partition(b"\n")
    if not data.startswith(MAGIC) or hashlib.sha256(rest).hexdigest().encode() != head:
        return Found(why_not=f"{path} is damaged")
    if why_not := _misfit(json.loads(rest.partition(b"\n")[0]), function, cpu):
        return Found(why_not=why_not)
    return taken_apart(data)


def taken_apart(data: bytes) -> Found:
    """The code of a file's contents that are whole."""
    _, _, line, code = data.split(b"\n", 3)
    return Found(code, tuple(json.loads(line)["names"]))


def _is_trusted(status: os.stat_result) -> bool:
    """True for a file or folder of this user's, of the system's, or of the owner of gpuprof itself, that not
    everybody can write to.
    """
    if os.name != "posix":
        return True
    return status.st_uid in (0, os.geteuid(), _owner_of_package()) and not status.st_mode & stat.S_IWOTH


@functools.cache
def _owner_of_package() -> int:
    return PACKAGE.stat().st_uid


def _misfit(facts: dict, function: Function, cpu: str) -> str:
    """Why a file is not of this function today; "" when it is."""
    for name, version in versions().items():
        if facts["versions"][name] != version:
            return f"it was made with {name} {facts['versions'][name]}, and this is {name} {version}"
    if facts["settings"] != settings():
        return f"{' and '.join(sorted({*facts['settings'], *settings()}))} would change it"
    if facts["function"] != function.entry or facts["cpu"] != cpu:
        return "it is of another function"
    if not is_unchanged(facts["sources"]):
        return "it is of other sources"
    return ""


# --- what is compiled on this machine


@functools.cache
def own_folder() -> CacheFolder | str:
    """The folder of machine code when the user names none and the source's folder cannot be written; else why there is
    none.
    """
    try:
        return cache_folder("compiled", is_executed=True)
    except OSError as error:
        return f"compiled code cannot be cached, so every run compiles ({error}); {REMEDY}"


def _place_of(file: Path) -> str:
    """A folder's name, another one for each folder of sources."""
    return f"{file.parent.name}_{hashlib.sha256(os.fsencode(file.parent)).hexdigest()[:16]}"


def is_in_own_folder(file: Path) -> bool:
    """True when code of the functions of a source goes to the folder of this user's."""
    return not os.environ.get("NUMBA_CACHE_DIR") and not _next_to(file)


@functools.cache
def _next_to(file: Path) -> Path | None:
    folder = file.parent / "__pycache__"
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def folder_for(file: Path) -> Path | None:
    """The folder for code of the functions of a source, made if it can be; None where there is none."""
    if local := None if os.environ.get("NUMBA_CACHE_DIR") else _next_to(file):
        return local
    own = own_folder() if not (named := os.environ.get("NUMBA_CACHE_DIR")) else None
    if isinstance(own, str):
        return None
    folder = (own.path if own else Path(named).absolute()) / _place_of(file)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def save(folder: Path, function: Function, cpu: str, data: bytes) -> None:
    """Writes a file, whole or not at all. Raises OSError or GpuprofError."""
    with replacing(folder / function.file_name(cpu)) as partial:
        partial.write_bytes(data)
