"""The argument of a generator's `initialize`: the program as the emulator will run it, the launch, and memory."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gpuprof.isa.encoding import PT, Instruction as Encoded
from gpuprof.isa.facts import NO_FACTS, Facts
from gpuprof.isa.kinds import KINDS
from gpuprof.isa.operations import Operations, operations_of
from gpuprof.isa.printing.text import disassemble, opcode_name
from gpuprof.isa.program import Function, Location
from gpuprof.isa.row import Opcode

# Kinds of instructions whose lanes access memory, each at its own address.
ADDRESSING = ("load", "store", "atomic", "reduction", "copy")
# Additionally, kinds whose lanes have addresses of rows that go to several lanes, or come from them.
ADDRESSED = (*ADDRESSING, "matrix_load", "matrix_store")
# Kinds whose lanes name an object in shared memory.
MBARRIERS = ("mbarrier", "mbarrier_wait")
# Kinds whose memory accesses are known only after their execution.
RANGED = (
    *("bulk_load", "bulk_store", "bulk_copy", "bulk_reduction", "bulk_reduction_shared", "bulk_prefetch"),
    *("fetch", "query", "surface_load", "surface_store", "surface_reduction", "matrix_async", "syscall"),
)

Extent = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Instruction:
    """An instruction of a loaded module: number `number` of its code, at code address `pc`."""

    number: int
    pc: int
    encoded: Encoded
    function: str  # as written in the source
    basic_block: int  # index in Kernel.basic_blocks
    ptx_line: int  # 0: unknown
    location: Location | None  # of the innermost frame

    @property
    def op(self) -> Opcode:
        """Its row of the instruction table: kind, space, types, pipe and so on."""
        return self.encoded.op

    @property
    def opcode(self) -> str:
        """The name of its row, for display and for `opcodes` of a generator; its kind gives its meaning."""
        return opcode_name(self.encoded)

    @property
    def kind(self) -> str:
        """A key of isa.kinds.KINDS."""
        return self.encoded.op.kind

    @property
    def operation(self) -> str:
        """Its operation on memory: load, store, atomic, reduction, copy, prefetch, or ""."""
        return KINDS[self.encoded.op.kind].operation

    @property
    def space(self) -> str:
        """The state space that it accesses; "" for none."""
        return self.encoded.op.space if self.operation else ""

    @property
    def nbytes(self) -> int:
        """Bytes that each lane accesses."""
        return self.encoded.op.nbytes

    @property
    def is_guarded(self) -> bool:
        return self.encoded.guard != PT

    @cached_property
    def operations(self) -> Operations:
        """Arithmetic operations of a thread in it, and their precision."""
        return operations_of(self.encoded.op)

    @cached_property
    def text(self) -> str:
        """The text of the instruction, like in `gpuprof disasm`."""
        return disassemble(self.encoded, self.pc)

    @property
    def line(self) -> int:
        """Line of the source file; 0: unknown."""
        return self.location.line if self.location else 0

    @property
    def file(self) -> str:
        return self.location.file if self.location else ""

    @property
    def frames(self) -> Iterator[Location]:
        """Its source position and the call sites that it was inlined at, innermost first."""
        location = self.location
        while location is not None:
            yield location
            location = location.inlined_at


class BasicBlock(NamedTuple):
    """Instructions that always run together. `successors`: blocks of the same function that may follow; `callees`:
    blocks that it calls.
    """

    index: int
    instructions: tuple[Instruction, ...]
    successors: tuple[int, ...]
    callees: tuple[int, ...]


class Parameter(NamedTuple):
    """A kernel's argument. `value`: its bytes; `number`: as an unsigned integer, or as a float; None for a struct.
    `allocation`: the one that it points to, "" for none.
    """

    name: str
    type: str  # of PTX, without the dot
    value: bytes
    number: int | float | None
    allocation: str


class Variable(NamedTuple):
    name: str
    space: str  # "global" or "const"
    address: int  # in global memory
    nbytes: int


class Allocation(NamedTuple):
    address: int
    nbytes: int
    name: str

    def holds(self, address: int) -> bool:
        return self.address <= address < self.address + self.nbytes


@dataclass(frozen=True, eq=False)
class Code:
    """A loaded module's code, which all of its launches share."""

    name: str
    load_base: int
    ptx: str
    sources: Mapping[str, str]  # path -> text
    functions: tuple[Function, ...]
    instructions: tuple[Instruction, ...]
    basic_blocks: tuple[BasicBlock, ...]
    facts: Facts = NO_FACTS

    @cached_property
    def ptx_lines(self) -> list[str]:
        return self.ptx.splitlines()


@dataclass(frozen=True, eq=False)
class Kernel:
    """A launch that is about to run. Nothing in it can be changed."""

    launch: int  # index, from 0
    name: str  # as written in the source
    symbol: str
    text: str  # the launch as written
    task: str
    stream: int
    grid: Extent
    block: Extent
    cluster: Extent
    shared_nbytes: int  # of a block, static and dynamic
    function: Function
    code: Code
    parameters: tuple[Parameter, ...]
    variables: tuple[Variable, ...]
    allocations: tuple[Allocation, ...]  # ascending
    commands: Sequence[str]  # submitted by the host since a generator was first attached
    chip: Mapping[str, object]  # its numbers, by the names of `gpuprof list chips --verbose`
    freed: tuple[Allocation, ...] = ()  # those of `allocations` that cudaFreeAsync frees before the launch begins

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """All instructions of the module, by number."""
        return self.code.instructions

    @property
    def basic_blocks(self) -> tuple[BasicBlock, ...]:
        return self.code.basic_blocks

    @property
    def n_blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads_per_block(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps_per_block(self) -> int:
        return -(-self.threads_per_block // 32)

    @property
    def first_block(self) -> BasicBlock:
        """The basic block at which its threads begin."""
        return self.basic_blocks[self.instructions[self.function.first].basic_block]

    def block_of_rank(self, block: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """Linear indexes in the grid of blocks given by their ranks in the clusters of other blocks, int64 (n,)
        each.
        """
        (gx, gy, _), (cx, cy, cz) = self.grid, self.cluster
        x, y, z = block % gx, block // gx % gy, block // (gx * gy)
        x, y, z = x - x % cx + rank % cx, y - y % cy + rank // cx % cy, z - z % cz + rank // (cx * cy)
        return (z * gy + y) * gx + x

    def allocation_at(self, address: int) -> Allocation | None:
        """The allocation that contains an address of global memory."""
        index = bisect_right(self.allocations, address, key=lambda allocation: allocation.address) - 1
        return self.allocations[index] if index >= 0 and self.allocations[index].holds(address) else None
