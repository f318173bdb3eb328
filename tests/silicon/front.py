"""`python -m tests.silicon.front [--chip NAME] [--kernel TEXT] [--code]`: the cycles of clang's code beside nvcc's.

Each kernel of tests/silicon and of samples/ runs once with the code of either compiler, on a part of an A100 and of an
RTX 4090. A line per kernel: cycles, their ratio, issue slots and their ratio; with --code also the instructions whose
slots differ most. It needs nvcc.
"""

import argparse
import statistics
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gpuprof.chips import load_chip
from gpuprof.device.launching.launch_text import find_launch_comments, kernel_names, parse_launch
from gpuprof.device.requests import run_requests
from gpuprof.isa.opcodes import TABLE
from gpuprof.run.compile_file import BuildOptions
from gpuprof.run.observers.observer import LaunchResult
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.paths import SAMPLES
from tests.silicon.cards import part_of
from tests.silicon.cases import all_cases
from tests.silicon.run import KERNELS
from tests.support.running import Results

PARTS = {"a100": 12, "rtx4090": 16}
COMPILERS = ("clang", "nvcc")
SHOWN_OPCODES = 8


class Work(NamedTuple):
    """Launches of a file, one after another. The last launch of each kernel is compared."""

    file: Path
    launches: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(kernel_names([parse_launch(text) for text in self.launches]))


class Code(NamedTuple):
    """What a kernel took with the code of one compiler."""

    cycles: int
    slots: Counter[str]  # issue slots by instruction

    @property
    def n_slots(self) -> int:
        return self.slots.total()


def works() -> Iterator[Work]:
    """The samples, and every kernel of the silicon cases once, as its first case runs it."""
    for path in sorted(SAMPLES.glob("*.cu")):
        yield Work(path, tuple(text for _, text in find_launch_comments(path.read_text())))
    seen = set()
    for cases in all_cases().values():
        for case in cases:
            work = Work(KERNELS / case.file, case.runs[0].launches)
            if (case.file, work.names) not in seen:
                seen.add((case.file, work.names))
                yield work


def measure(work: Work, chip_name: str, compiler: str) -> dict[str, Code]:
    """Each kernel's last launch, by the kernel's name."""
    requests = [parse_launch(text) for text in work.launches]
    results = Results()
    chip = part_of(load_chip(chip_name), PARTS[chip_name])
    device = open_device(Settings(chip=chip, observer=results, options=BuildOptions(compiler=compiler)))
    module = device.load(work.file, instantiate=kernel_names(requests))
    run_requests(device, module, requests, folder=work.file.parent)
    return {result.launch.function.display: _code(result) for result in results.launches}


def _code(result: LaunchResult) -> Code:
    slots: Counter[str] = Counter()
    for number, executed in zip(result.launch.module.code["opcode"], result.counters.inst_executed, strict=True):
        slots[TABLE[number].name] += int(executed) * TABLE[number].slots
    return Code(result.timing.cycles, slots)


def line(chip: str, name: str, clang: Code, nvcc: Code) -> str:
    return (
        f"{chip:<8} {name:<40} {clang.cycles:>10,} {nvcc.cycles:>10,} {clang.cycles / nvcc.cycles:>6.2f}   "
        f"{clang.n_slots:>11,} {nvcc.n_slots:>11,} {clang.n_slots / nvcc.n_slots:>6.2f}"
    )


def differences(clang: Code, nvcc: Code) -> str:
    """The instructions whose slots differ most: clang's and nvcc's, in per mille of nvcc's slots."""
    names = sorted(clang.slots | nvcc.slots, key=lambda name: -abs(clang.slots[name] - nvcc.slots[name]))
    shares = [
        f"{name} {1000 * clang.slots[name] / nvcc.n_slots:.0f}/{1000 * nvcc.slots[name] / nvcc.n_slots:.0f}"
        for name in names[:SHOWN_OPCODES]
        if clang.slots[name] != nvcc.slots[name]
    ]
    return "         " + ", ".join(shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chip", choices=PARTS, action="append", help="only this chip")
    parser.add_argument("--kernel", default="", help="only kernels of files and names that have this text")
    parser.add_argument("--code", action="store_true", help="show the instructions whose slots differ most")
    asked = parser.parse_args()
    ratios = []
    for work in works():
        if asked.kernel not in f"{work.file.name} {' '.join(work.names)}":
            continue
        for chip in asked.chip or PARTS:
            by_clang, by_nvcc = (measure(work, chip, compiler) for compiler in COMPILERS)
            for name, clang in by_clang.items():
                print(line(chip, f"{work.file.stem} {name}", clang, by_nvcc[name]), flush=True)
                if asked.code:
                    print(differences(clang, by_nvcc[name]), flush=True)
                ratios.append(clang.cycles / by_nvcc[name].cycles)
    print(summary(ratios))


def summary(ratios: list[float]) -> str:
    off = sorted(100 * abs(ratio - 1) for ratio in ratios)
    near = sum(each <= 10 for each in off)
    return f"{len(off)} launches: {near} within 10 %, median {statistics.median(off):.1f} %, largest {off[-1]:.0f} %"


if __name__ == "__main__":
    main()
