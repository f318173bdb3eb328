"""Triton kernels on the emulated GPU, launched as they are.

    import gpuprof.interop.triton

    gpuprof.interop.triton.enable()  # instead of a CUDA driver
    add_kernel[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)  # numpy, torch CPU or gpuprof device arrays

Triton specialises, compiles and tunes as on the chip that is emulated. `@triton.autotune` times each configuration in
simulated cycles: its launches are recorded in a task "autotune".
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gpuprof.device.api import Device
from gpuprof.errors import UsageError
from gpuprof.interop.triton_arguments import Tensor, given
from gpuprof.run.script import asked_config, device_of_script, tuned

OLDEST = (3, 5)  # the first with knobs.runtime.add_stages_inspection_hook


class _Enabled:
    """The parts of Triton that were replaced, and their replacements; None while it is as it was."""

    driver: Any = None
    replaced: tuple[tuple[Any, str, Any], ...] = ()  # (object, attribute, what it was)


def enable(chip: str | None = None, *, device: Device | None = None) -> Device:
    """Launches Triton's kernels on the emulated GPU from here on; gives that GPU.

    `chip`: as for gpuprof.Device. `device`: a Device that the script has already. Raises UsageError when Triton is not
    installed or too old, or has no code for the chip.
    """
    triton = _triton()
    from gpuprof.interop.triton_driver import EmulatedDriver, benchmark, keep_ptx

    gpu = device or device_of_script(chip)
    driver = EmulatedDriver(gpu)
    disable()
    from triton.runtime.jit import JITFunction, KernelInterface

    keyed = next(base for base in JITFunction.__mro__ if "cache_key" in vars(base))
    key = keyed.cache_key
    _replace(keyed, "cache_key", _key_with_path(key))
    _replace(keyed, "__hash__", lambda kernel: hash(key.fget(kernel)))  # kernels in a script's own dicts stay there
    _replace(KernelInterface, "__getitem__", _launcher)
    _replace(triton.knobs.runtime, "add_stages_inspection_hook", keep_ptx)
    _replace(triton.testing, "do_bench", benchmark(driver))
    _replace(triton.testing, "do_bench_cudagraph", benchmark(driver))
    _replace(triton.runtime.driver, "_active", driver)
    _Enabled.driver = driver
    return gpu


def disable() -> None:
    """Leaves Triton as it was before `enable`."""
    for owner, name, old in reversed(_Enabled.replaced):
        setattr(owner, name, old)
    _Enabled.driver, _Enabled.replaced = None, ()


@contextmanager
def enabled(device: Device) -> Iterator[Device]:
    """Launches Triton's kernels on `device` while the block runs, and afterwards where they were launched before.

    Raises what `enable` raises.
    """
    before = _Enabled.driver
    try:
        yield enable(device=device)
    finally:
        disable()
        if before is not None:
            enable(device=before.gpu)


def tensor(array: Any) -> Tensor:
    """A copy of an array that stays on the emulated GPU: for tensor descriptors, or to save copying at each launch.

    It has what kernels and launch code ask of a torch tensor (shape, stride(), numel(), dtype, data_ptr()); `numpy()`
    copies it back.
    """
    if _Enabled.driver is None:
        raise UsageError(
            "gpuprof.interop.triton.tensor: there is no GPU yet; call gpuprof.interop.triton.enable() first"
        )
    return Tensor.of_device(_Enabled.driver.gpu.to_device(array))


def _triton():
    try:
        import triton
        import triton.testing
    except ImportError as error:
        raise UsageError(
            f"Triton cannot be imported ({error}); install it with: pip install 'gpuprof[interop]'"
        ) from None
    if tuple(map(int, triton.__version__.split(".")[:2])) < OLDEST:
        raise UsageError(
            f"Triton {triton.__version__} is too old for gpuprof.interop; it works with {'.'.join(map(str, OLDEST))} "
            "and later"
        )
    return triton


def _replace(owner: Any, name: str, new: Any) -> None:
    _Enabled.replaced += ((owner, name, getattr(owner, name)),)
    setattr(owner, name, new)


def _key_with_path(key: property) -> property:
    """A kernel's name in Triton's cache, with the file that contains the kernel.

    Triton's own names the text and the first line only. Its cache would give the PTX of the same text in another file,
    whose line table names that file.
    """

    def key_with_path(kernel: Any) -> str:
        path = kernel.fn.__code__.co_filename
        return hashlib.sha256(f"{key.fget(kernel)} {path}".encode()).hexdigest()

    return property(key_with_path)


def _launcher(kernel: Any, grid: Any):
    """`kernel[grid]`, for plain kernels and for those that are tuned or have heuristics."""

    from gpuprof.interop.triton_configs import Launched, texts_of, tuner_of, with_config

    def launch(*arguments: Any, **options: Any):
        launched = Launched(arguments, options)
        if (asked := asked_config()) is not None:
            launched = with_config(kernel, asked, launched)
        elif (tuner := tuner_of(kernel)) is not None:
            tuned(texts_of(tuner))
        with given(_Enabled.driver.gpu, kernel.arg_names, *launched) as call:
            return kernel.run(*call.arguments, grid=grid, warmup=False, **call.options)

    return launch
