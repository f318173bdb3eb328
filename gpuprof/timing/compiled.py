"""Whether this machine has the timing model compiled already."""

from pathlib import Path

from gpuprof.timing.engine import run


def is_compiled() -> bool:
    """True when Numba's cache has the engine: the next launch starts at once, and not after some ten seconds of compiling."""
    return bool(run.signatures) or any(Path(run.stats.cache_path).glob("engine.*.nbi"))
