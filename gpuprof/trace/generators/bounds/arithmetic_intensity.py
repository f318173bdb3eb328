"""Operations and bytes of each basic block."""

from collections import Counter

import numpy as np

from gpuprof.isa.operations import PRECISIONS
from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import ADDRESSING, Kernel

SPACES = ("global", "shared", "local", "const", "param")
MEMORY = frozenset(ADDRESSING)
PC = Column("pc", "integer", "", "code address of the block's first instruction; -1: the whole kernel")
BLOCKS = Table(
    "blocks",
    "arithmetic and memory of each basic block that has run, and of the kernel",
    (
        PC,
        Column("threads", "integer", "instructions", "executed by threads whose guard holds"),
        Column("operations", "integer", "operations", "arithmetic, of every precision but int"),
        Column("integer_operations", "integer", "operations", "on integers, addresses and counters among them"),
        *(Column(f"{space}_nbytes", "integer", "bytes", f"that threads access in {space} memory") for space in SPACES),
        Column("accesses", "integer", "accesses", "to memory, by threads"),
        Column("intensity", "real", "operations / byte", "operations / bytes of global memory; -1: no such bytes"),
    ),
)
OPERATIONS = Table(
    "operations",
    "arithmetic operations by precision",
    (
        PC,
        Column("precision", "text", "", "as in the roofline: f64, f32, tensor_f16, int, ..."),
        Column("operations", "integer", "operations", "done by threads whose guard holds, never 0"),
    ),
)


class Intensity(TraceGenerator):
    """Counts operations by precision, and accesses and bytes by state space, of each basic block: its intensity."""

    name = "intensity"
    tables = (BLOCKS, OPERATIONS)

    def initialize(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.threads: Counter[int] = Counter()  # by basic block
        self.operations: dict[int, Counter[str]] = {}
        self.memory: dict[int, Counter[str]] = {}  # bytes by state space, and "accesses"

    def event(self, event: TraceEvent) -> None:
        block, instruction = event.basic_block.index, event.instruction
        threads = event.n_true
        self.threads[block] += threads
        if instruction.operations.count:
            by_precision = self.operations.setdefault(block, Counter())
            by_precision[instruction.operations.precision] += threads * instruction.operations.count
        if instruction.kind in MEMORY:
            of_block = self.memory.setdefault(block, Counter())
            for access in event.accesses:
                lanes = int(np.bitwise_count(access.masks).sum())
                of_block["accesses"] += lanes
                of_block[access.space] += lanes * access.nbytes

    def finish(self) -> None:
        executed = sorted(self.threads)
        self._rows(-1, executed)
        for block in executed:
            self._rows(self.kernel.basic_blocks[block].instructions[0].pc, [block])

    def _rows(self, pc: int, blocks: list[int]) -> None:
        operations = sum((self.operations.get(block, Counter()) for block in blocks), Counter())
        memory = sum((self.memory.get(block, Counter()) for block in blocks), Counter())
        integers = operations["int"]
        counted = operations.total() - integers
        self.add_row(
            "blocks",
            pc,
            sum(self.threads[block] for block in blocks),
            counted,
            integers,
            *(memory[space] for space in SPACES),
            memory["accesses"],
            counted / memory["global"] if memory["global"] else -1.0,
        )
        self.add_rows("operations", [(pc, name, operations[name]) for name in PRECISIONS if operations[name]])
