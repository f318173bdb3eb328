"""numba.cuda kernels on the emulated GPU, launched as they are.

    import gpuprof.interop.numba

    gpuprof.interop.numba.enable()              # instead of a CUDA driver
    kernel[blocks, threads](x, y, n)            # numpy arrays, gpuprof device arrays, numbers, tuples, records

numba-cuda types and compiles the kernels. What scripts ask of `numba.cuda` itself (to_device, device_array,
synchronize, stream, event, ...) is answered by the emulated GPU.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gpuprof.device.api import Device
from gpuprof.errors import UsageError
from gpuprof.run.script import device_of_script


class _Enabled:
    """The parts of numba.cuda that were replaced, and their replacements; empty while it is as it was."""

    replaced: tuple[tuple[Any, str, Any], ...] = ()  # (object, attribute, what it was)
    device: Device | None = None


def enable(chip: str | None = None, *, device: Device | None = None) -> Device:
    """Launches numba.cuda's kernels on the emulated GPU from here on; gives that GPU.

    To be called before the first kernel is launched, or compiled for a signature. `chip`: as for gpuprof.Device.
    `device`: a Device that the script has already. Raises UsageError when numba-cuda is not installed or has no code
    for the chip.
    """
    _check_installed()
    from gpuprof.interop.numba_driver import replacements

    gpu = device or device_of_script(chip)
    new = replacements(gpu)
    disable()
    for owner, name, value in new:
        _Enabled.replaced += ((owner, name, getattr(owner, name)),)
        setattr(owner, name, value)
    _Enabled.device = gpu
    return gpu


def disable() -> None:
    """Leaves numba.cuda as it was before `enable`. Kernels compiled in between stay on the emulated GPU."""
    for owner, name, old in reversed(_Enabled.replaced):
        setattr(owner, name, old)
    _Enabled.replaced, _Enabled.device = (), None


@contextmanager
def enabled(device: Device) -> Iterator[Device]:
    """Launches numba.cuda's kernels on `device` while the block runs, and afterwards where they were launched before.

    Raises what `enable` raises.
    """
    before = _Enabled.device
    try:
        yield enable(device=device)
    finally:
        disable()
        if before is not None:
            enable(device=before)


def _check_installed() -> None:
    try:
        import numba_cuda  # noqa: F401
        from numba import cuda  # noqa: F401
        from numba.cuda.cudadrv import nvrtc, nvvm

        nvvm.NVVM()
        nvrtc.get_supported_ccs()
    except Exception as error:  # numba-cuda and its bindings raise errors of many kinds when a library is not there
        raise UsageError(
            f"numba-cuda cannot compile here ({error}); install it with: pip install 'gpuprof[interop]'"
        ) from None
