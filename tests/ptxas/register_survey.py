"""Our registers compared with those of ptxas, over many kernels: `python -m tests.ptxas.register_survey [TEXT]`.

The kernels are those of tests/silicon, the samples and tests/register_kernels, with PTX by clang and by nvcc, and the
PTX of tests/ptx that ptxas takes; TEXT is part of a file's name. A line for each kernel whose registers differ by more
than 4, and a summary. It needs nvcc and ptxas, and takes some minutes.
"""

import argparse
import re
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from gpuprof.assemble.assemble import assemble_program
from gpuprof.compile.cuda import compile_cuda
from gpuprof.compile.nvcc import compile_nvcc
from gpuprof.compile.ptxfile import read_ptx
from gpuprof.device.launching.launch_text import find_launch_comments, kernel_names, parse_launch
from gpuprof.errors import GpuprofError
from tests.paths import SAMPLES, TESTS
from tests.ptxas.registers import ENTRY
from tests.silicon.cases import all_cases
from tests.silicon.run import KERNELS

ARCH = "sm_80"
NEAR = 4  # registers
COMPILERS: dict[str, Callable] = {"clang": compile_cuda, "nvcc": compile_nvcc}
# Newer than ptxas 13.0: the version, and names of inlined functions.
_NEWER = ((re.compile(r"^\.version 9\..*$", re.M), ".version 9.0"), (re.compile(r", function_name [^\n]*$", re.M), ""))


class Pair(NamedTuple):
    """Registers and bytes spilled of a kernel."""

    where: str
    ours: tuple[int, int]
    theirs: tuple[int, int]

    @property
    def more(self) -> int:
        return self.ours[0] - self.theirs[0]


def sources() -> dict[Path, set[str]]:
    """CUDA files, and the kernels to instantiate of each."""
    found: dict[Path, set[str]] = {}
    for case in (case for cases in all_cases().values() for case in cases if case.file.endswith(".cu")):
        names = kernel_names([parse_launch(text) for run in case.runs for text in run.launches])
        found.setdefault(KERNELS / case.file, set()).update(names)
    for path in (*sorted(SAMPLES.glob("*.cu")), *sorted((TESTS / "register_kernels").glob("*.cu"))):
        launches = [parse_launch(text) for _, text in find_launch_comments(path.read_text())]
        found[path] = set(kernel_names(launches))
    return found


def modules(text: str) -> Iterator[tuple[str, str]]:
    """Names and PTX."""
    for path, names in sources().items():
        for compiler, build in COMPILERS.items():
            if text in path.name:
                try:
                    yield f"{path.name} {compiler}", build(path, arch=ARCH, instantiate=sorted(names)).ptx
                except GpuprofError:  # for another architecture
                    continue
    for path in sorted((TESTS / "ptx").glob("*_sm80.ptx")):
        if text in path.name:
            yield path.name, path.read_text()


def pairs(name: str, ptx: str) -> list[Pair]:
    """The kernels of a module; none where ptxas 13.0 does not take it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "k.ptx"
        path.write_text(ptx)
        program = assemble_program(read_ptx(path))
        for pattern, replacement in _NEWER:
            ptx = pattern.sub(replacement, ptx)
        path.write_text(ptx)
        command = ["ptxas", "-v", f"-arch={ARCH}", str(path), "-o", str(Path(folder) / "k.cubin")]
        said = subprocess.run(command, capture_output=True, text=True).stderr
    theirs = {kernel: (int(registers), int(spilled)) for kernel, spilled, registers in ENTRY.findall(said)}
    ours = {each.name: (each.registers, each.spill_nbytes) for each in program.functions}
    return [Pair(f"{name} {kernel}", ours[kernel], theirs[kernel]) for kernel in theirs]


def summary(found: list[Pair]) -> str:
    near = sum(abs(pair.more) <= NEAR for pair in found) / len(found)
    other_spills = sum((pair.ours[1] > 0) != (pair.theirs[1] > 0) for pair in found)
    return (
        f"{len(found)} kernels: median difference {statistics.median(pair.more for pair in found):g} registers, "
        f"{near:.0%} within {NEAR}, {other_spills} that only one of both spills"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", nargs="?", default="", help="only files whose name has this text in it")
    found: list[Pair] = []
    for name, ptx in modules(parser.parse_args().text):
        new = pairs(name, ptx)
        found += new
        for pair in new:
            if abs(pair.more) > NEAR:
                print(f"{pair.more:+4} {pair.ours[0]:>4} {pair.theirs[0]:>4}  {pair.where}", flush=True)
    print(summary(found))


if __name__ == "__main__":
    main()
