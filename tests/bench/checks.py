"""How long `gpuprof check` of a project takes: all entries unchanged, one changed, none cached."""

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "samples"
KERNELS = ("transpose", "saxpy", "reduction", "histogram", "stencil3d", "mandelbrot", "matmul", "spmv")
N_ENTRIES = 10  # two of the kernels are on another chip, too
N_TIMES = 3


def figures(folder: Path) -> Iterator[tuple[str, float, str, str]]:
    """Wall-clock seconds, medians of three. `folder`: for the project and its cache of runs."""
    for name in KERNELS:
        shutil.copy(SAMPLES / f"{name}.cu", folder)
    (folder / "gpuprof.toml").write_text("".join(_entries()))
    cold = _seconds(folder, "--update", "--fresh")
    unchanged = statistics.median(_seconds(folder) for _ in range(N_TIMES))
    changed = statistics.median(_seconds_changed(folder, number) for number in range(N_TIMES))
    yield "check.cold", cold, "s", f"gpuprof check --update --fresh, {N_ENTRIES} entries of samples/"
    yield "check.unchanged", unchanged, "s", "gpuprof check, nothing changed"
    yield "check.changed", changed, "s", "gpuprof check, one of the sources changed"


def _entries() -> Iterator[str]:
    yield from (f'[[entry]]\nfile = "{name}.cu"\n' for name in KERNELS)
    yield from (f'[[entry]]\nname = "{name}_h100"\nfile = "{name}.cu"\nchip = "h100"\n' for name in KERNELS[:2])


def _seconds_changed(folder: Path, number: int) -> float:
    source = folder / "reduction.cu"
    source.write_text(f"{source.read_text()}// {number}\n")
    return _seconds(folder)


def _seconds(folder: Path, *words: str) -> float:
    start = time.monotonic()
    subprocess.run([sys.executable, "-m", "gpuprof", "check", *words], cwd=folder, check=True, capture_output=True)
    return time.monotonic() - start
