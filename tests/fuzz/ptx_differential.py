"""The same PTX assembled in several ways must compute the same. `python -m tests.fuzz.ptx_differential SECONDS [SEED]`
runs as long as it is told.

Kernels of `ptx_mixes` are assembled with few registers and with many, with the passes between lowering and allocation
and without, and run on the same memory; every byte of it must then be the same. A difference is wrong code.
"""

import sys
import time
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from gpuprof.assemble import assemble as assembler
from gpuprof.assemble.ir.defs import remove_dead
from gpuprof.assemble.optimize import pipeline
from gpuprof.assemble.registers.spill import allocate_within
from gpuprof.errors import GpuprofError
from tests.fuzz.ptx_mixes import THREADS, Mix, memory_image
from tests.support.ptx_support import ptx_module, run_kernel


@contextmanager
def only_passes(wanted, scheduled: bool):
    """Only some of the passes between lowering and allocation."""
    before = pipeline.PASSES, assembler.fit
    pipeline.PASSES = tuple(change for change in pipeline.PASSES if wanted(change))
    if not scheduled:
        assembler.fit = lambda body, limit, is_wanted: allocate_within(body, limit)
    try:
        yield
    finally:
        pipeline.PASSES, assembler.fit = before


WAYS = {  # name -> which passes, scheduled or not, registers
    "all": (lambda change: True, True, 255),
    "plain": (lambda change: change is remove_dead, False, 255),
    "in order": (lambda change: True, False, 255),
    "40 registers": (lambda change: True, True, 40),
    "24 registers": (lambda change: True, True, 24),
    "plain, 32 registers": (lambda change: change is remove_dead, False, 32),
}


def assembled(text: str, way: str, max_registers: int | None = None):
    wanted, scheduled, registers = WAYS[way]
    with only_passes(wanted, scheduled):
        return assembler.assemble_program(ptx_module(text), max_registers=max_registers or registers)


def result(program, image: np.ndarray) -> bytes:
    kernel = next(f for f in program.functions if f.name == "k")
    arguments = [image.copy(), *[lambda addresses: bytes(range(32))] * (len(kernel.params) - 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # numpy's, of what IEEE 754 defines
        return run_kernel(program, "k", arguments, block=THREADS)[0]


def differences(text: str, image: np.ndarray) -> dict[str, list[int]]:
    """The ways that give something else than the plainest one, and the first bytes that differ."""
    expected = np.frombuffer(result(assembled(text, "plain"), image), np.uint8)
    found = {}
    for way in WAYS:
        if way != "plain":
            given = np.frombuffer(result(assembled(text, way), image), np.uint8)
            if not np.array_equal(given, expected):
                found[way] = np.flatnonzero(given != expected)[:8].tolist()
    return found


def shrunk(mix: Mix, image: np.ndarray) -> str:
    """The mix without the lines that the difference does not need."""
    index = 0
    while index < len(mix.lines):
        for size in (16, 8, 4, 2, 1):
            kept = mix.lines
            mix.lines = kept[:index] + kept[index + size :]
            try:
                if differences(mix.text(), image):
                    break
            except GpuprofError:
                pass
            mix.lines = kept
        else:
            index += 1
    return mix.text()


def main(seconds: float, seed: int) -> None:
    folder = Path("build/fuzz")
    folder.mkdir(parents=True, exist_ok=True)
    end, number, refused = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        mix = Mix(f"{seed}:{number}", 5 + 7 * (number % 12), share_of_memory=(0.0, 0.2, 0.5)[number % 3])
        image = memory_image(number)
        try:
            found = differences(mix.text(), image)
        except GpuprofError as error:
            refused += 1
            print(f"{number}: {type(error).__name__}: {str(error)[:200]}", flush=True)
            found = None
        except Exception as error:
            print(
                f"{number}: {type(error).__name__}: {str(error)[:200]} {traceback.extract_tb(error.__traceback__)[-1]}",
                flush=True,
            )
            found = {"crash": []}
            (folder / f"crash-{seed}-{number}.ptx").write_text(mix.text())
            found = None
        if found:
            path = folder / f"differs-{seed}-{number}.ptx"
            path.write_text(shrunk(mix, image))
            print(f"{path}: {found}\n   " + "\n   ".join(mix.lines), flush=True)
        number += 1
    print(f"{number} kernels, {refused} refused")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
