"""Which GPU the Devices of a script are: the one that is being recorded, or each one of its own."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gpuprof.device.api import Device
from gpuprof.errors import UsageError
from gpuprof.run.run_settings import Observer, Settings
from gpuprof.run.session import open_device


class _Printer(Observer):
    """A script that runs on its own sees what its kernels print, as it would on a GPU."""

    def output(self, text: str) -> None:
        sys.stdout.write(text)


class _Collecting:
    """The recording that a script's Devices belong to: they are one GPU."""

    settings: Settings | None = None
    device: Device | None = None


@contextmanager
def collecting(settings: Settings) -> Iterator[None]:
    """Inside, `device_of_script` gives one Device that records."""
    _Collecting.settings, _Collecting.device = settings, None
    try:
        yield
        if _Collecting.device:
            _Collecting.device.synchronize()
            _Collecting.device.executor.finish()
    except BaseException:
        if _Collecting.device:
            _Collecting.device.executor.drop()
        raise
    finally:
        _Collecting.settings, _Collecting.device = None, None


def device_of_script(chip_name: str | None = None) -> Device:
    """`gpuprof.Device`: the GPU being recorded when `gpuprof collect` runs the script, otherwise one that records
    nothing.

    `chip_name`: a name of `gpuprof list chips` or a .toml file; `collect --chip` goes before it. Raises UsageError when
    a script that is being recorded asks for a second, different chip: a recording has one.
    """
    settings = _Collecting.settings
    if settings is None:
        return open_device(Settings(observer=_Printer()), chip_name)
    if _Collecting.device is None:
        _Collecting.device = open_device(settings, chip_name)
    device = _Collecting.device
    if chip_name and not (settings.chip or settings.chip_name) and settings.chosen_chip(chip_name) != device.chip:
        raise UsageError(
            f"Device({chip_name!r}): the recording is of {device.chip.name}; record one chip at a time, or give --chip"
        )
    return device
