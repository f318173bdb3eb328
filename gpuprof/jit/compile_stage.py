"""Compiling as a stage: the first run on a machine waits for it, and its progress display shows that. What a function
calls is compiled inside it; one thread compiles at a time.
"""

from contextlib import AbstractContextManager, nullcontext

from gpuprof.base.stages import stage

WHAT = {"emulate": "compiling the emulator", "timing": "compiling the timing model"}  # by room


def compiling(function) -> AbstractContextManager:
    """A stage while a function of these rooms is compiled; no stage for others."""
    package, _, module = function.__module__.partition(".")
    what = WHAT.get(module.partition(".")[0]) if package == "gpuprof" else None
    return stage(what) if what else nullcontext()
