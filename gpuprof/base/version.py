"""Which gpuprof this is."""

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """The version that was installed; "0" for a checkout that never was."""
    try:
        return version("gpuprof")
    except PackageNotFoundError:
        return "0"
