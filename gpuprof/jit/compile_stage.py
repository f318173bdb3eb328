"""Compiling as a stage: the first run on a machine waits for it, and its progress display shows that.

Numba reports each function that it compiles, and not those that it finds on disk. What a function calls is compiled
inside it; one thread compiles at a time.
"""

from contextlib import ExitStack
from functools import cache

from numba.core import event

from gpuprof.base.stages import stage

WHAT = {"emulate": "compiling the emulator", "timing": "compiling the timing model"}  # by room


class _Compiling(event.Listener):
    """Keeps a stage open while a function is compiled, and all that it calls."""

    def __init__(self):
        self._depth = 0  # functions that are being compiled
        self._stage = ExitStack()

    def on_start(self, event) -> None:
        self._depth += 1
        if self._depth == 1 and (what := WHAT.get(_room_of(event.data["dispatcher"].py_func))):
            self._stage.enter_context(stage(what))

    def on_end(self, event) -> None:
        self._depth -= 1
        if not self._depth:
            self._stage.close()


def _room_of(function) -> str:
    """ "emulate" of gpuprof.emulate.core.warp; "" for other packages."""
    package, _, module = function.__module__.partition(".")
    return module.partition(".")[0] if package == "gpuprof" else ""


@cache
def show_compiling() -> None:
    """Compiling is a stage from here on; a second call changes nothing."""
    event.register("numba:compile", _Compiling())
