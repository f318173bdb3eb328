"""gpuprof profiles GPU kernels on a machine that has no GPU."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("gpuprof")
except PackageNotFoundError:  # run from a checkout that was never installed
    __version__ = "0"
