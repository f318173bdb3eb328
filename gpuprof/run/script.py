"""Runs a user's script inside a recording. Whatever it raises becomes one of our errors, with the script's own line."""

import runpy
import sys
import traceback
from pathlib import Path

from gpuprof.errors import GpuprofError, NotComparable, ScriptError
from gpuprof.run.run_settings import Settings
from gpuprof.run.script_device import collecting


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
