"""NVIDIA's C++ libraries (Thrust, CUB, libcu++): headers of a Python package that may be installed, `gpuprof[cccl12]`.

Version 13 has them, too, and wants more of the driver's header than ours has.
"""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

PACKAGE = "nvidia-cuda-cccl-cu12"
FOLDER = "nvidia/cuda_cccl/include"  # of its headers, where it is installed
# A header of theirs that clang does not find.
MISSING = re.compile(r"'(?:thrust|cub|cuda|nv)/[^']*' file not found")
HINT = "Thrust, CUB and libcu++ are not installed: run `pip install 'gpuprof[cccl12]'`"


class Cccl(NamedTuple):
    """Installed headers. `identity`: package and version."""

    folder: Path
    identity: str


def find() -> Cccl | None:
    """The headers; None where they are not installed."""
    try:
        found = distribution(PACKAGE)
    except PackageNotFoundError:
        return None
    folder = Path(str(found.locate_file(FOLDER)))
    return Cccl(folder, f"{PACKAGE} {found.version}") if folder.is_dir() else None


def hint_for(diagnostics: str) -> str:
    """What to install where a compiler did not find one of these headers, on a line of its own; "" otherwise."""
    return f"\n{HINT}" if MISSING.search(diagnostics) and find() is None else ""
