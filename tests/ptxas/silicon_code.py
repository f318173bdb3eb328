"""Our code of the kernels of tests/silicon beside ptxas': `python -m tests.ptxas.silicon_code [--write] [KERNEL ...]`.

Each kernel runs once with at most two blocks, ours on the emulator and ptxas' by `sass_machine`, on the same memory.
A row of tests/ptxas/silicon_code.csv has of both: issue slots, registers a thread, barriers, and loads of shared and
of global memory by width. The counts are executions by warps.
"""

import csv
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gpuprof.device.launching.argument_values import LaunchRequest
from gpuprof.device.launching.launch_text import parse_launch
from gpuprof.errors import GpuprofError
from tests.paths import TESTS
from tests.ptxas.sass_machine import Unknown
from tests.ptxas.sass_slots import beside_ptxas, kept, run_launches, slots_of, version
from tests.silicon.cases import all_cases
from tests.silicon.run import KERNELS
from tests.support.nvidia_tools import PTXAS

CSV = TESTS / "ptxas" / "silicon_code.csv"
MOST_BLOCKS = 2
TOLERANCE = 1e-3  # sums in another order
WIDTHS = (32, 64, 128)
_USED = re.compile(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", re.S)


class Counts(NamedTuple):
    slots: int
    registers: int
    barriers: int
    lds_32: int
    lds_64: int
    lds_128: int
    ldg_32: int
    ldg_64: int
    ldg_128: int


class Row(NamedTuple):
    source: str
    kernel: str  # as the case launches it
    ours: Counts
    theirs: Counts


def requests_of(source: str) -> dict[str, list[LaunchRequest]]:
    """The launches up to its own of each kernel's first case, with few blocks, by kernel."""
    found: dict[str, list[LaunchRequest]] = {}
    for case in (case for cases in all_cases().values() for case in cases if case.file == source):
        requests = [few_blocks(parse_launch(text)) for text in case.runs[0].launches]
        for place, request in enumerate(requests):
            found.setdefault(request.kernel, requests[: place + 1])
    return found


def few_blocks(request: LaunchRequest) -> LaunchRequest:
    x, *_ = request.config.grid
    return replace(request, config=request.config._replace(grid=(min(x, MOST_BLOCKS), 1, 1)))


def width(op: str) -> int:
    """Bits that a load of this name loads a lane: of ours and of ptxas' names. Bytes and halves count as 32."""
    ours = re.search(r"\.V(\d)\.(\d+)$", op)
    if ours:
        return int(ours[1]) * int(ours[2])
    return max((bits for bits in (64, 128) if f".{bits}" in op), default=32)


def sources() -> list[str]:
    return sorted({case.file for cases in all_cases().values() for case in cases if case.file.endswith(".cu")})


def counts(slots: int, registers: int, executed: Counter[str]) -> Counts:
    loads = Counter()
    for op, count in executed.items():
        if op.startswith(("LDS.", "LDG.")) or op == "LDS":
            loads[op[:3], width(op)] += count
    barriers = sum(count for op, count in executed.items() if op.startswith("BAR."))
    return Counts(slots, registers, barriers, *(loads[kind, bits] for kind in ("LDS", "LDG") for bits in WIDTHS))


def our_counts(registers: int, slots: Counter[str]) -> Counts:
    return counts(slots.total(), registers, slots)


def last_launch(source: str, requests: list[LaunchRequest]) -> tuple:
    """The last of the launches as `kept` has it."""
    launches: list[tuple] = []
    run_launches(KERNELS / source, requests, lambda *seen: launches.append(seen))
    return kept(*launches[-1])


def ours(source: str) -> dict[str, Counts]:
    """By kernel."""
    found = {}
    for kernel, requests in requests_of(source).items():
        launch, counters, *_ = last_launch(source, requests)
        found[kernel] = our_counts(launch.function.registers, slots_of(launch, counters))
    return found


def measure(source: str, kernel: str, requests: list[LaunchRequest]) -> Row:
    """Raises Unknown for an instruction that `sass_machine` does not have."""
    seen = last_launch(source, requests)
    function, ptx = seen[0].function, seen[0].module.program.ptx
    both = beside_ptxas(KERNELS / source, [seen])[0]
    assert both.worst <= TOLERANCE, f"{kernel}: memory differs by {both.worst} of what our emulator leaves"
    theirs = counts(both.theirs.total(), registers(ptx)[function.name], both.theirs)
    return Row(source, kernel, our_counts(function.registers, both.ours), theirs)


def registers(ptx: str) -> dict[str, int]:
    """Registers a thread that ptxas gives each kernel, by symbol."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "k.ptx"
        path.write_text(ptx)
        command = [PTXAS, "-v", "-arch=sm_80", str(path), "-o", f"{folder}/k.cubin"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    return {name: int(count) for name, count in _USED.findall(said)}


def read_table() -> list[Row]:
    with CSV.open() as file:
        rows = csv.reader(line for line in file if not line.startswith("#"))
        return [
            Row(
                source,
                kernel,
                *(Counts(*map(int, each)) for each in (numbers[: len(Counts._fields)], numbers[len(Counts._fields) :])),
            )
            for source, kernel, *numbers in list(rows)[1:]
        ]


def write(rows: list[Row]) -> None:
    with CSV.open("w") as file:
        file.write(
            f"# one launch of at most {MOST_BLOCKS} blocks; theirs: ptxas -arch=sm_80, {version()}; written by "
            "python -m tests.ptxas.silicon_code --write\n"
        )
        writer = csv.writer(file, lineterminator="\n")
        heads = (f"{who}_{name}" for who in ("ours", "theirs") for name in Counts._fields)
        writer.writerow(("source", "kernel", *heads))
        writer.writerows((row.source, row.kernel, *row.ours, *row.theirs) for row in rows)


def main(arguments: list[str]) -> None:
    wanted = [each for each in arguments if each != "--write"]
    rows = []
    for source in sources():
        for kernel, requests in requests_of(source).items():
            if wanted and not any(each in f"{source} {kernel}" for each in wanted):
                continue
            try:
                row = measure(source, kernel, requests)
            except subprocess.CalledProcessError:
                print(f"{source:22} {kernel:50} not run: ptxas does not take it for sm_80", flush=True)
                continue
            except (GpuprofError, Unknown, AssertionError) as unknown:
                print(f"{source:22} {kernel:50} not run: {str(unknown).splitlines()[0]}", flush=True)
                continue
            rows.append(row)
            pairs = "  ".join(f"{mine}/{other}" for mine, other in zip(row.ours, row.theirs, strict=True))
            print(f"{source:22} {kernel:50} {row.ours.slots / row.theirs.slots:6.3f}  {pairs}", flush=True)
    if "--write" in arguments:
        write(merged(rows) if wanted else rows)


def merged(rows: list[Row]) -> list[Row]:
    """The stored rows, with these in the place of theirs."""
    new = {(row.source, row.kernel): row for row in rows}
    return [new.get((row.source, row.kernel), row) for row in read_table()]


if __name__ == "__main__":
    main(sys.argv[1:])
