"""Issue slots beside those of real machine code: `python -m tests.ptxas.sass_slots [--write] [KERNEL ...]`.

The same PTX goes through our assembler and emulator and through ptxas, whose machine code `sass_machine` runs on the
same memory; both must compute the same. A row of tests/ptxas/sass_slots.csv is a kernel and the issue slots that its
launch takes, ours and theirs: every execution of an instruction by a warp, times the slots of its row.
"""

import csv
import glob
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpuprof.chips import load_chip
from gpuprof.device.api import Device
from gpuprof.device.commands import Launch
from gpuprof.device.launching.argument_values import LaunchRequest
from gpuprof.device.launching.launch_text import find_launch_comments, kernel_names, parse_launch
from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.device.requests import run_requests
from gpuprof.emulate.run import emulate
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.isa.opcodes import TABLE
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import Session
from tests.paths import SAMPLES, TESTS
from tests.ptxas import sass_machine
from tests.support.nvidia_tools import PTXAS

CSV = TESTS / "ptxas" / "sass_slots.csv"
SAMPLE_FILES = sorted(SAMPLES.glob("*.cu"))
LAUNCHES = {  # of files that have none
    "register_kernels/dense.cu": [
        "gemm_1x1<<<(4, 4), (16, 16)>>>(a: f32[64,64]=random, b: f32[64,64]=random, c: f32[64,64], 64)",
        "gemm_2x2<<<(2, 2), (16, 16)>>>(a, b, c2: f32[64,64], 64)",
        "gemm_4x4<<<(1, 1), (16, 16)>>>(a, b, c4: f32[64,64], 64)",
    ],
    "register_kernels/blocks.cu": [
        "scan<<<4, 256>>>(in: i32[4096]=random, out: i32[4096], sums: i32[4], 4096)",
        "bitonic<<<2, 256>>>(keys: u32[2048]=random)",
    ],
    "register_kernels/stencils.cu": [
        "blur5<<<(4, 8), (32, 8)>>>(in: f32[64,128]=random, out: f32[64,128], 128, 64)",
        "heat3d<<<(2, 4), (32, 8)>>>(volume: f64[8,32,64]=random, after: f64[8,32,64], 64, 32, 8, 0.5, 0.1)",
        "sobel<<<(4, 8), (32, 8)>>>(picture: u8[64,128]=random, edges: u8[64,128], 128, 64)",
    ],
    "slot_kernels/constants.cu": [
        *(f"{name}<<<1, 64>>>({name}: f64[64], "
            "200)" for name in ("chains", "exact", "eight_sums", "compared", "seven_pairs", "crowded")),
        "singles<<<1, 64>>>(single: f32[64], 200)",
        "integers<<<1, 64>>>(word: i32[64], 200)",
    ],
    "register_kernels/words.cu": ["sha256<<<4, 128>>>(words: u32[8192]=random, digest: u32[4096], 512)"],
    "register_kernels/physics.cu": ["philox<<<4, 128>>>(out: u32[2048], 7, 9, 512)"],
}  # fmt: skip
SOURCES = [*SAMPLE_FILES, *(TESTS / name for name in LAUNCHES)]


class Row(NamedTuple):
    source: str
    kernel: str
    ours: int  # issue slots of the launch, all warps
    theirs: int

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs


class Measured(NamedTuple):
    """One launch, both ways: the row, and where the slots went by instruction."""

    row: Row
    ours: Counter[str]
    theirs: Counter[str]
    worst: float  # largest relative difference of the float32 and integer words in memory afterwards


def find_nvdisasm() -> str | None:
    """On the path, or in the wheel of the `interop` extra."""
    return shutil.which("nvdisasm") or next(
        iter(sorted(glob.glob(sys.prefix + "/lib/python*/site-packages/nvidia/*/bin/nvdisasm"))), None
    )


def read_table() -> list[Row]:
    with CSV.open() as file:
        rows = csv.reader(line for line in file if not line.startswith("#"))
        return [Row(source, kernel, int(ours), int(theirs)) for source, kernel, ours, theirs, *_ in list(rows)[1:]]


def launch_texts(source: Path) -> list[str]:
    return LAUNCHES.get(f"{source.parent.name}/{source.name}") or [
        text for _, text in find_launch_comments(source.read_text())
    ]


class _Slots(Session):
    """A session that does not time its launches, and hands each over together with the memory before it."""

    def __init__(self, use):
        super().__init__(Settings(), load_chip("a100"))
        self._handlers[Launch] = self._launch
        self.use = use

    def _launch(self, launch: Launch):
        launch.module.refresh_constants(self.memory)
        counters = LaunchCounters.zeros(len(launch.module.code))
        before = self.memory.arena.copy()
        for _ in emulate(launch, self.memory, chip=self.chip, max_warp_instructions=1 << 24, counters=counters):
            pass
        self.use(launch, counters, before, self.memory.arena)
        self.launcher.n_launches += 1


def slots_of(launch: Launch, counters: LaunchCounters) -> Counter[str]:
    """Issue slots by the name of the instruction."""
    found: Counter[str] = Counter()
    for number, executed in zip(launch.module.code["opcode"], counters.inst_executed, strict=True):
        found[TABLE[number].name] += int(executed) * TABLE[number].slots
    for at, slots in counters.slow_slots.items():
        found[TABLE[launch.module.code["opcode"][at]].name] += slots
    return found


def run_source(source: Path, use) -> None:
    """Runs a file's launches on the emulator; `use(launch, counters, memory before, memory after)` sees each."""
    run_launches(source, [parse_launch(text) for text in launch_texts(source)], use)


def run_launches(source: Path, requests: list[LaunchRequest], use) -> None:
    """The same for launches of one's own."""
    session = _Slots(use)
    device = Device(session, session.chip)
    run_requests(device, device.load(source, kernel_names(requests)), requests, folder=source.parent)


def ours(source: Path) -> dict[str, int]:
    """Issue slots of each kernel that the file launches; of its last launch."""
    found = {}
    run_source(
        source, lambda launch, counters, *_: found.update({launch.function.name: slots_of(launch, counters).total()})
    )
    return found


def machine_code(ptx: str, folder: Path) -> dict[str, sass_machine.Kernel]:
    path = folder / "k.ptx"
    path.write_text(ptx)
    subprocess.run([PTXAS, "-arch=sm_80", str(path), "-o", str(folder / "k.cubin")], check=True, capture_output=True)
    return sass_machine.disassemble(find_nvdisasm(), folder / "k.cubin")


def measure(source: Path) -> list[Measured]:
    launches = []
    run_source(source, lambda *seen: launches.append(kept(*seen)))
    return beside_ptxas(source, launches)


def kept(launch: Launch, counters: LaunchCounters, before: np.ndarray, after: np.ndarray) -> tuple:
    """What `run_source` shows, for later."""
    return launch, counters, before, after.copy()


def beside_ptxas(source: Path, launches: list[tuple]) -> list[Measured]:
    """The launches that were `kept`, done once more by the machine code."""
    with tempfile.TemporaryDirectory() as folder:
        texts = {launch.module.program.ptx for launch, *_ in launches}
        kernels = {text: machine_code(text, Path(folder)) for text in sorted(texts)}
    return [
        _measured(source, kernels[launch.module.program.ptx][launch.function.name], launch, *rest)
        for launch, *rest in launches
    ]


def _measured(
    source: Path, kernel: sass_machine.Kernel, launch: Launch, counters: LaunchCounters, before, after
) -> Measured:
    function = launch.function
    shared = launch.shared_nbytes
    grid = sass_machine.Grid(
        launch.grid,
        launch.block,
        launch.params,
        shared,
        function.local_nbytes + 4096,
        before,
        GLOBAL_BASE,
        launch.module.global_symbols,
    )
    counts = sass_machine.run(kernel, grid)
    theirs: Counter[str] = Counter()
    for code, count in zip(kernel.code, counts, strict=True):
        theirs[code.op] += int(count)
    mine = slots_of(launch, counters)
    row = Row(source.name, function.name, mine.total(), theirs.total())
    return Measured(row, mine, theirs, difference(before, after))


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """The largest relative difference of two memories' words, as float32 numbers; infinite where those that differ are
    no such numbers.
    """
    differs = one.view(np.uint32) != other.view(np.uint32)
    a, b = (each.view(np.float32)[differs].astype(np.float64) for each in (one, other))
    with np.errstate(invalid="ignore"):
        plain = (np.abs(a) > 1e-30) & (np.abs(b) > 1e-30)
        return float(np.max(np.where(plain, np.abs(a - b) / np.maximum(np.abs(a), np.abs(b)), np.inf), initial=0.0))


def version() -> str:
    return (
        subprocess.run([PTXAS, "--version"], capture_output=True, text=True, check=True).stdout.strip().splitlines()[-2]
    )


def write(rows: list[Row]) -> None:
    with CSV.open("w") as file:
        file.write(
            f"# issue slots of a launch; theirs: ptxas -arch=sm_80, {version()}; written by python -m "
            "tests.ptxas.sass_slots "
            "--write\n"
        )
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*Row._fields, "ratio"))
        writer.writerows((*row, f"{row.ratio:.3f}") for row in rows)


def main(arguments: list[str]) -> None:
    wanted = [each for each in arguments if each != "--write"]
    found = []
    for source in SOURCES:
        if wanted and not any(each in str(source) for each in wanted):
            continue
        for each in measure(source):
            found.append(each.row)
            print(
                f"{each.row.source:18} {each.row.kernel:44} {each.row.ours:9} {each.row.theirs:9} "
                f"{each.row.ratio:6.3f}  {each.worst:.1e}",
                flush=True,
            )
            if wanted:
                for name, counter in (("ours", each.ours), ("theirs", each.theirs)):
                    print(
                        "    ",
                        name,
                        " ".join(f"{op}:{100 * n / each.row.theirs:.1f}" for op, n in counter.most_common(32)),
                    )
    if "--write" in arguments:
        write(found)


if __name__ == "__main__":
    main(sys.argv[1:])
