"""Runs a user's script inside a recording. Whatever it raises becomes one of our errors, with the script's own line.
The script's Devices are one GPU, the recorded one; without a recording, each Device is a GPU of its own.
"""

import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from gpuprof.device.api import Device
from gpuprof.errors import GpuprofError, NotComparable, ScriptError, UsageError
from gpuprof.run.run_settings import Observer, Settings
from gpuprof.run.session import open_device
from gpuprof.run.triton_config import AskedConfig


def run_script(file: Path, script_args: tuple[str, ...], settings: Settings) -> None:
    """Runs a script as `python FILE ARGS` would; the Devices it makes belong to this recording."""
    argv, path = sys.argv, sys.path
    sys.argv, sys.path = [str(file), *script_args], [str(file.parent), *path]
    try:
        with collecting(settings):
            runpy.run_path(str(file), run_name="__main__")
    except SystemExit as exit:
        if exit.code not in (None, 0):
            raise GpuprofError(f"{file}: the script ended with {exit.code!r}") from None
    except GpuprofError as error:
        error.args = (_place(file, error) + str(error),)
        raise
    except Exception as error:  # whatever the script raises is the user's own: it is shown as Python shows it
        raise ScriptError(f"{file}: the script ended with {type(error).__name__}", _traceback(file, error)) from None
    finally:
        sys.argv, sys.path = argv, path
    if settings.recorder and settings.recorder.n_launches == 0:
        raise NotComparable(f"{file}: the script launched no kernel, so nothing was recorded")


def _frames(file: Path, error: BaseException):
    """The traceback from the script's own first frame on; None when it never ran, as with a syntax error."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename != str(file):
        frames = frames.tb_next
    return frames


def _place(file: Path, error: BaseException) -> str:
    """ "script.py:12: ", the script's own line that an error of gpuprof comes from."""
    frames, line = _frames(file, error), 0
    while frames:
        if frames.tb_frame.f_code.co_filename == str(file):
            line = frames.tb_lineno
        frames = frames.tb_next
    return f"{file}:{line}: " if line else ""


def _traceback(file: Path, error: Exception) -> str:
    return "".join(traceback.format_exception(type(error), error, _frames(file, error)))


class _Printer(Observer):
    """A script that runs on its own sees what its kernels print, as it would on a GPU."""

    def output(self, text: str) -> None:
        sys.stdout.write(text)


class _Collecting:
    """The recording that a script's Devices belong to: they are one GPU."""

    settings: Settings | None = None
    device: Device | None = None
    config: AskedConfig | None = None


@contextmanager
def collecting(settings: Settings) -> Iterator[None]:
    """Inside, `device_of_script` gives one Device that records."""
    config = settings.options.triton_config
    _Collecting.settings, _Collecting.device = replace(settings, has_host=True), None
    _Collecting.config = AskedConfig(config) if config else None
    try:
        yield
        _check_config()
        if _Collecting.device:
            _Collecting.device.synchronize()
            _Collecting.device.executor.finish()
    except BaseException:
        if _Collecting.device:
            _Collecting.device.executor.drop()
        raise
    finally:
        _Collecting.settings, _Collecting.device, _Collecting.config = None, None, None


def _check_config() -> None:
    """Raises UsageError for a Config that no launch has taken."""
    config = _Collecting.config
    if config is not None and not config.is_used:
        raise UsageError(f"--config {config.text}: no kernel that Triton launched has these meta-parameters")


def asked_config() -> AskedConfig | None:
    """The Config that the recording asks for."""
    return _Collecting.config


def tuned(configs: Sequence[str]) -> None:
    """Reports a kernel that Triton tunes, before its launch, to whoever watches the recording."""
    if _Collecting.settings is not None:
        _Collecting.settings.observer.tuned(configs)


def device_of_script(chip_name: str | None = None) -> Device:
    """`gpuprof.Device`: the GPU being recorded when `gpuprof collect` runs the script, otherwise one that records
    nothing.

    `chip_name`: a name of `gpuprof list chips` or a .toml file; `collect --chip` goes before it. Raises UsageError when
    a script that is being recorded asks for a second, different chip: a recording has one.
    """
    settings = _Collecting.settings
    if settings is None:
        return open_device(Settings(observer=_Printer(), has_host=True), chip_name)
    if _Collecting.device is None:
        _Collecting.device = open_device(settings, chip_name)
    device = _Collecting.device
    if chip_name and not (settings.chip or settings.chip_name) and settings.chosen_chip(chip_name) != device.chip:
        raise UsageError(
            f"Device({chip_name!r}): the recording is of {device.chip.name}; record one chip at a time, or give --chip"
        )
    return device
