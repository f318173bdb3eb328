"""Stored PTX of Triton and numba-cuda, compiled once more where the compiler is installed."""

import importlib.metadata
import subprocess
import sys

from tests.house.readme import COMPILERS
from tests.paths import ROOT
from tests.support.tools import lacking


def compiled_again(module: str, name: str) -> str:
    """The result of `compiled(name)` of a module. Skips the test where the compiler of the file is not installed, or in
    another version than the stored files have. The compiler is the one that the name begins with, else Triton.
    """
    prefix = name.split("_")[0] + "_"
    package, version = COMPILERS.get(prefix, COMPILERS["triton_"])
    try:
        installed = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        lacking(package, "interop")
    if not installed.startswith(version):
        lacking(package, "interop", f"is of version {installed}; the files are of {version}x")
    # in another process: Triton's LLVM does not go with Mesa's, which other tests load
    code = f"from {module} import compiled; print(compiled({name!r}), end='')"
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout
