"""Traces that the simulator Accel-Sim reads, one file per launch.

    kernelslist.g     the launches, in their order
    kernel-N.traceg   header, then blocks of threads, then warps, one instruction per line:
                      PC mask n_dests [R..] opcode n_sources [R..] width [0 addresses]

The format is version 4 of Accel-Sim's tracer (github.com/accel-sim/accel-sim-framework, trace-parser): its reader takes
one destination and four sources at most, and as many addresses as the mask has lanes. The traces have the instructions
that gpuprof runs, under the names of Ampere's machine code (`ampere_opcodes`).
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gpuprof.base.files import replacing
from gpuprof.errors import UsageError
from gpuprof.isa.encoding import reads, writes
from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent, unpacked
from gpuprof.trace.generator import Option, TraceGenerator
from gpuprof.trace.generators.trace_files.ampere_opcodes import name_of
from gpuprof.trace.kernel import ADDRESSED, Instruction, Kernel

LIST = "kernelslist.g"
VERSION = 4
MOST_DESTINATIONS, MOST_SOURCES = 1, 4
SHARED_BASE, LOCAL_BASE = 0x7E00_0000_0000, 0x7F00_0000_0000
BASES = {"shared": SHARED_BASE, "local": LOCAL_BASE}
WORDS = {"R": 1, "D": 2}  # Dn is in registers 2n and 2n + 1
CONSTANTS = "LDC"  # has no addresses in the format
FILES = Table(
    "files",
    "traces that were written",
    (
        Column("file", "text", "", "its name"),
        Column("warps", "integer", "warps", "in it"),
        Column("instructions", "integer", "instructions", "of warps"),
        Column("left_out", "integer", "instructions", "of warps, without an opcode in the format"),
    ),
)


class AccelSim(TraceGenerator):
    """Writes traces for the simulator Accel-Sim into a folder: kernelslist.g, and a file for each launch.

    Instructions that the real assembler expands to a sequence, such as a division, are one line.
    """

    name = "accelsim"
    tables = (FILES,)
    folder = Option("", "folder for the traces; new, or without traces")
    most = Option(20_000_000, "instructions of warps in a launch, at most: they are held in memory until it ends")

    def __init__(self, **options):
        super().__init__(**options)
        self.files: list[str] = []

    def initialize(self, kernel: Kernel) -> None:
        if not self.folder:
            raise UsageError("give a folder for the traces: folder=NAME")
        path = Path(self.folder)
        if not self.files and (path / LIST).exists():
            raise UsageError(f"{path}: it has traces already; give a new folder")
        path.mkdir(parents=True, exist_ok=True)
        self.kernel = kernel
        self.lines: list[list[str]] = [[] for _ in range(kernel.n_blocks * kernel.warps_per_block)]
        self.length, self.left_out = 0, 0
        self.heads = {}

    def event(self, event: TraceEvent) -> None:
        held = event.true_masks
        self.length += event.n_warps
        if self.length > self.most:
            raise UsageError(
                f"more than {self.most} instructions of warps; raise most=N, or watch launches with fewer blocks"
            )
        warps = (event.block * self.kernel.warps_per_block + event.warp).tolist()
        instruction = event.instruction
        if instruction.kind in ADDRESSED and event.accesses:
            for access in event.accesses:
                if instruction.kind == "copy" and access.operation == "store":
                    continue  # the line has the address that the copy reads
                ends = addresses_of(access.masks, access.addresses + BASES.get(access.space, 0))
                self._add(instruction, access.space, access.masks, warps, access.nbytes, ends)
        else:
            self._add(instruction, "", held, warps, 0, [""] * len(warps))

    def _add(self, instruction: Instruction, space: str, masks: np.ndarray, warps, nbytes: int, ends) -> None:
        key = instruction.number, space
        if key not in self.heads:
            self.heads[key] = head_of(instruction, space, nbytes)
        start, rest, has_addresses = self.heads[key]
        if not rest:
            self.left_out += len(warps)
            return
        for warp, mask, end in zip(warps, masks.tolist(), ends, strict=True):
            self.lines[warp].append(f"{start} {mask:08x} {rest}{end if has_addresses else ''}\n")

    def finish(self) -> None:
        if self.length > self.most:
            return
        number = len(self.files) + 1
        name = f"kernel-{number}.traceg"
        with (
            replacing(Path(self.folder) / name) as path,
            open(path, "w", encoding="utf-8", newline="\n") as file,
        ):
            file.writelines(self._text(number))
        self.files.append(name)
        with replacing(Path(self.folder) / LIST) as path:
            path.write_text("".join(f"{each}\n" for each in self.files), encoding="utf-8")
        counts = Counter(map(len, self.lines))
        self.add_row("files", name, len(self.lines), sum(n * k for n, k in counts.items()), self.left_out)
        self.lines = []

    def _text(self, number: int) -> Iterator[str]:
        yield header(self.kernel, number)
        grid_x, grid_y, _ = self.kernel.grid
        n_warps = self.kernel.warps_per_block
        for block in range(self.kernel.n_blocks):
            block_index = block % grid_x, block // grid_x % grid_y, block // grid_x // grid_y
            yield "#BEGIN_TB\n\nthread block = {},{},{}\n".format(*block_index)
            for warp in range(n_warps):
                lines = self.lines[block * n_warps + warp]
                yield f"\nwarp = {warp}\ninsts = {len(lines)}\n"
                yield from lines
            yield "\n#END_TB\n\n"


def header(kernel: Kernel, number: int) -> str:
    """The beginning of a trace. Accel-Sim takes the opcodes of version 80 for Ampere's."""
    lines = (
        f"-kernel name = {kernel.symbol}",
        f"-kernel id = {number}",
        "-grid dim = ({},{},{})".format(*kernel.grid),
        "-block dim = ({},{},{})".format(*kernel.block),
        f"-shmem = {kernel.shared_nbytes}",
        f"-nregs = {kernel.function.registers}",
        "-binary version = 80",
        f"-cuda stream id = {kernel.stream}",
        f"-shmem base_addr = 0x{SHARED_BASE:016x}",
        f"-local mem base_addr = 0x{LOCAL_BASE:016x}",
        "-nvbit version = none",
        f"-accelsim tracer version = {VERSION}",
        "-enable lineinfo = 0",
        "",
        "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
        "[mem_addresses] immediate",
        "",
    )
    return "".join(f"{line}\n" for line in lines)


def head_of(instruction: Instruction, space: str, nbytes: int) -> tuple[str, str, bool]:
    """The text before the mask in a line, and the text after it up to the addresses, "" if there is no opcode; and True
    if addresses follow.
    """
    name = name_of(instruction, space)
    if not name:
        return "", "", False
    has_addresses = bool(space) and name != CONSTANTS
    opcode = f"{name}.E.{width(nbytes)}" if has_addresses else name
    destinations = registers(writes(instruction.encoded))[:MOST_DESTINATIONS]
    sources = registers(reads(instruction.encoded))[:MOST_SOURCES]
    words = [
        str(len(destinations)), *destinations, opcode, str(len(sources)), *sources, str(nbytes if has_addresses else 0),
    ]  # fmt: skip
    return f"{instruction.pc:04x}", " ".join(words) + (" 0" if has_addresses else ""), has_addresses


def width(nbytes: int) -> str:
    """The width suffix of the machine code. The reader takes the first number, or U and a number, for the bits of an
    access.
    """
    return f"U{8 * nbytes}" if nbytes < 4 else str(8 * nbytes)


def registers(operands) -> list[str]:
    """The first register of each operand; predicates are omitted."""
    return [f"R{WORDS[operand.file] * operand.index}" for operand in operands if operand.file in WORDS]


def addresses_of(masks: np.ndarray, addresses: np.ndarray) -> list[str]:
    """For each warp, the addresses of the lanes in its mask."""
    lanes = unpacked(masks)
    return [
        "".join(f" 0x{address:016x}" for address in row[held].tolist())
        for row, held in zip(addresses, lanes, strict=True)
    ]
