"""Whether this machine has the timing model compiled already; if not, another process compiles it, on another core,
while this one compiles and emulates the first kernel. Both use Numba's cache, whose files are replaced whole: any
number of processes may do so at once.
"""

import atexit
import gc
import os
import subprocess
import sys
from pathlib import Path

import numba

from gpuprof.base.stages import stage
from gpuprof.compiled.kept import is_ready
from gpuprof.timing.engine import SIGNATURE, run

CODE = "from gpuprof.timing.first_run import compile_now; compile_now()"


def is_compiled() -> bool:
    """True when the next launch starts at once, and not after some seconds of compiling."""
    return is_ready(run, SIGNATURE)


def compile_now() -> None:
    """Compiles the model in a process that does nothing else. Numba's objects stay until its end, so no garbage is
    collected.
    """
    gc.disable()
    run.compile(SIGNATURE)


class Compilation:
    """The timing model being compiled by another process."""

    def __init__(self):
        paths = [str(Path(__file__).parent.parent.parent), os.environ.get("PYTHONPATH")]
        environment = {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PYTHONSAFEPATH": "1",
            "NUMBA_CACHE_DIR": numba.config.CACHE_DIR,
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", CODE],
            env=os.environ | {name: value for name, value in environment.items() if value},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # whatever goes wrong goes wrong here once more, and is shown then
            start_new_session=True,  # Ctrl-C is for this process, which then stops the other
        )
        atexit.register(self._stop)

    def wait(self) -> None:
        """Until it is done. If that process fails, the first launch compiles."""
        with stage("compiling the timing model"):
            self._process.wait()
        atexit.unregister(self._stop)

    def _stop(self) -> None:
        """Nothing of it is there any more when this process ends, on a busy machine too."""
        self._process.kill()
        self._process.wait()


def compile_once() -> None:
    """Waits until this machine has the timing model compiled: for who is about to start several processes that would
    each compile it.
    """
    if not is_compiled():
        Compilation().wait()
