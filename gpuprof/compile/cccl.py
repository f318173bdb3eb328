"""NVIDIA's C++ libraries (Thrust, CUB, libcu++): headers of a Python package that may be installed, `gpuprof[cccl]` or
`gpuprof[cccl12]`.
"""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from gpuprof.errors import CompileError

# A header of theirs that clang does not find.
MISSING = re.compile(r"'(?:thrust|cub|cuda|nv)/[^']*' file not found")
HINT = "Thrust, CUB and libcu++ are not installed: run `pip install 'gpuprof[cccl]'`"


class Package(NamedTuple):
    """`folder`: of its headers, where it is installed. `extra`: of gpuprof, which installs it."""

    name: str
    folder: str
    extra: str


# The name of `--cccl` -> its package; the newest first.
PACKAGES = {
    "13": Package("nvidia-cuda-cccl", "nvidia/cu13/include/cccl", "cccl"),
    "12": Package("nvidia-cuda-cccl-cu12", "nvidia/cuda_cccl/include", "cccl12"),
}


class Cccl(NamedTuple):
    """Installed headers. `identity`: package and version."""

    folder: Path
    identity: str


def find(wanted: str | None) -> Cccl | None:
    """The headers of the version that is wanted, or of the newest; None where none is installed.

    Raises CompileError where the one that is wanted is not installed.
    """
    for name in PACKAGES if wanted is None else (wanted,):
        if found := _installed(PACKAGES[name]):
            return found
    if wanted is not None:
        raise CompileError(f"CCCL {wanted} is not installed: run `pip install 'gpuprof[{PACKAGES[wanted].extra}]'`")
    return None


def hint_for(diagnostics: str) -> str:
    """What to install where a compiler did not find one of these headers, on a line of its own; "" otherwise."""
    return f"\n{HINT}" if MISSING.search(diagnostics) and find(None) is None else ""


def _installed(package: Package) -> Cccl | None:
    try:
        found = distribution(package.name)
    except PackageNotFoundError:
        return None
    folder = Path(str(found.locate_file(package.folder)))
    return Cccl(folder, f"{package.name} {found.version}") if folder.is_dir() else None
