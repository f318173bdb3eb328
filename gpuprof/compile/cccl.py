"""NVIDIA's C++ libraries (Thrust, CUB, libcu++): headers of a Python package that may be installed."""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from gpuprof.errors import UsageError

# A header of theirs that clang does not find.
MISSING = re.compile(r"'(?:thrust|cub|cuda|nv)/[^']*' file not found")


class Release(NamedTuple):
    """`extra`: gpuprof's, which installs `package`. `folder`: of its headers, where it is installed."""

    package: str
    folder: str
    extra: str

    @property
    def command(self) -> str:
        """The command that installs it."""
        return f"`pip install 'gpuprof[{self.extra}]'`"


# What --cccl calls it -> the release; the newest one first.
RELEASES = {
    "13": Release("nvidia-cuda-cccl", "nvidia/cu13/include/cccl", "cccl"),
    "12": Release("nvidia-cuda-cccl-cu12", "nvidia/cuda_cccl/include", "cccl12"),
}
HINT = f"Thrust, CUB and libcu++ are not installed: run {RELEASES['13'].command}"


class Cccl(NamedTuple):
    """Installed headers. `identity`: package and version."""

    folder: Path
    identity: str


def find(name: str = "") -> Cccl | None:
    """The headers of a release of RELEASES; of the newest that is installed where there is no name, and None where
    there is none.

    Raises UsageError for a name that no release has, or whose release is not installed.
    """
    if not name:
        return next(filter(None, map(_installed, RELEASES.values())), None)
    if name not in RELEASES:
        raise UsageError(f"--cccl {name}: there are {' and '.join(sorted(RELEASES))}")
    release = RELEASES[name]
    installed = _installed(release)
    if installed is None:
        raise UsageError(f"--cccl {name}: it is not installed: run {release.command}")
    return installed


def _installed(release: Release) -> Cccl | None:
    try:
        package = distribution(release.package)
    except PackageNotFoundError:
        return None
    folder = Path(str(package.locate_file(release.folder)))
    return Cccl(folder, f"{release.package} {package.version}") if folder.is_dir() else None


def hint_for(diagnostics: str) -> str:
    """A line that names the package to install where a compiler did not find one of these headers; "" otherwise."""
    return f"\n{HINT}" if MISSING.search(diagnostics) and find() is None else ""
