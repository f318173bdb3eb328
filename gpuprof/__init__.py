"""gpuprof profiles GPU kernels on a machine that has no GPU."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("gpuprof")
except PackageNotFoundError:  # run from a checkout that was never installed
    __version__ = "0"


def __getattr__(name: str):
    """`gpuprof.Device`, loaded when it is first asked for: importing gpuprof stays quick."""
    if name == "Device":
        from gpuprof.session import device_of_script

        return device_of_script
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
