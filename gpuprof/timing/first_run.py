"""The first run on a machine: unless the timing model is compiled already, another process compiles it, on another
core, while this one compiles and emulates the first kernel. Of several runs that find it missing, one has it compiled,
and the others wait for that.
"""

import atexit
import gc
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from gpuprof.base.caching.lock import Lock
from gpuprof.base.processes import ending_with_this
from gpuprof.base.stages import stage
from gpuprof.jit.arguments import kinds_from
from gpuprof.jit.cached import cache_folder_of, is_ready, why_not_lasting, why_not_shipped
from gpuprof.timing.engine import KINDS, run_at

TICK_SECONDS = 0.25
CODE = "from gpuprof.timing.first_run import compile_now; compile_now()"
WHAT = "compiling the emulator and the timing model"


def is_compiled() -> bool:
    """True when the next launch starts at once, and not after some seconds of compiling."""
    return is_ready(run_at, KINDS)


def compile_now() -> None:
    """Compiles the model in a process that does nothing else. Numba's objects stay until its end, so no garbage is
    collected.
    """
    gc.disable()
    run_at.bind(kinds_from(KINDS))


class Compilation:
    """The timing model being compiled: by a process of ours, or for another gpuprof that began before."""

    def __init__(self):
        self._lock = Lock(cache_folder_of(run_at) / "timing model.lock")
        self._process: subprocess.Popen | None = None
        if self._lock.take():
            self._start()

    @property
    def notice(self) -> str:
        """The message to the user at the start of the compilation."""
        if self._process is None:
            return f"first run on this machine: another gpuprof is {WHAT}; waiting for it"
        reason = why_not_shipped(run_at, KINDS)
        why = f" (the compiled code that came with gpuprof does not fit: {reason})" if reason else ""
        return f"first run on this machine: {WHAT}, once{why_not_lasting(run_at)}{why}"

    def wait(self) -> None:
        """Until it is done. If that process fails, the first launch compiles."""
        with stage("compiling the timing model"):
            while not self._is_done():
                self._rest()
        atexit.unregister(self._stop)

    def _is_done(self) -> bool:
        if self._process is not None:
            return self._process.poll() is not None
        if not self._lock.take():
            return False
        if is_compiled():
            self._lock.give_up()
            return True
        self._start()  # the other one was stopped
        return False

    def _rest(self) -> None:
        if self._process is None:
            time.sleep(TICK_SECONDS)
            return
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(TICK_SECONDS)

    def _start(self) -> None:
        """Our process has the lock from here on: it is free when that process ends, however it ends."""
        paths = [str(Path(__file__).parent.parent.parent), os.environ.get("PYTHONPATH")]
        environment = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONSAFEPATH": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", CODE],
            env=os.environ | environment,
            pass_fds=self._lock.handles,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # whatever goes wrong goes wrong here once more, and is shown then
            start_new_session=True,  # Ctrl-C is for this process, which then stops the other
            preexec_fn=ending_with_this(),
        )
        self._lock.give_up()
        atexit.register(self._stop)

    def _stop(self) -> None:
        """Nothing of it is there any more when this process ends, on a busy machine too."""
        self._process.kill()
        self._process.wait()


def compile_once() -> None:
    """Waits until this machine has the timing model compiled: to be called before several processes are started that
    would each compile it.
    """
    if not is_compiled():
        Compilation().wait()
