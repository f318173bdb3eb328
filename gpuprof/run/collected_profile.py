"""A source file as a recording in a folder: collected in a process of its own, as the command line does it."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from gpuprof.base.processes import ending_with_this, how_ended, own_program
from gpuprof.errors import OF_EXIT_CODE, GpuprofError
from gpuprof.program.binary import is_binary
from gpuprof.run.target import KINDS


def runs(file: Path) -> bool:
    """True for a file that `gpuprof collect` runs."""
    return file.suffix in KINDS or is_binary(file)


def collect(file: Path, words: Sequence[str], arguments: Sequence[str], recording: Path) -> bool:
    """Runs `gpuprof collect` on a file. `words`: its options; `arguments`: those of a program or script. True where it
    ended well; False where it failed after it had recorded launches, as when a program ends with another code than 0.

    Raises an error with the exit code of the child, which has said why, when nothing was recorded.
    """
    command = [*own_program(), "collect", *words, "-o", str(recording), "--", str(file)]
    done = subprocess.run(
        [*command, *(["--", *arguments] if arguments else [])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # stdout has the comparison; what goes wrong is on stderr
        preexec_fn=ending_with_this(),
    )
    if done.returncode and not recording.exists():
        error = OF_EXIT_CODE.get(done.returncode, GpuprofError)
        raise error(f"{file}: could not be collected ({how_ended(done.returncode)}), so there is nothing to compare")
    return not done.returncode
