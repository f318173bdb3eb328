"""Limits of a run for others: whoever starts gpuprof for them, as `gpuprof mcp` does, sets them in the environment.

    GPUPROF_FOLDER=FOLDER   a file that a launch, an #include or a chip file names is in this folder or below it, when
                            links are followed
    GPUPROF_PROGRAMS=off    no host code of the user's runs: neither a whole program nor a script

The files of the command line are not looked at: whoever writes it knows them.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from gpuprof.errors import UsageError

FOLDER, PROGRAMS, OFF = "GPUPROF_FOLDER", "GPUPROF_PROGRAMS", "off"


def confined(folder: Path, allows_programs: bool) -> Mapping[str, str]:
    """The variables of a run that is confined to a folder."""
    return {FOLDER: str(folder)} | ({} if allows_programs else {PROGRAMS: OFF})


def is_confined() -> bool:
    return bool(os.environ.get(FOLDER))


def check_inside(path: Path | str) -> None:
    """Raises UsageError for a file outside of the folder, where there is one."""
    folder = os.environ.get(FOLDER)
    if folder and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise UsageError(f"{path}: is outside of {folder}, and {FOLDER} allows only files in it")


def check_runs_programs(file: Path, what: str) -> None:
    """Raises UsageError where programs are off. `what`: "a whole program" or "a script"."""
    if os.environ.get(PROGRAMS) == OFF:
        raise UsageError(
            f"{file}: is {what}, whose host code would run on this machine, and {PROGRAMS}={OFF} allows only kernels "
            "with launches; give a launch, or start `gpuprof mcp` with --allow-programs"
        )
