"""Executions of each opcode."""

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import Kernel

OPCODES = Table(
    "opcodes",
    "instructions of the module by opcode",
    (
        Column("opcode", "text", "", "name of the instruction"),
        Column("unit", "text", "", "functional unit that executes it"),
        Column("static", "integer", "instructions", "instructions of the module's code"),
        Column("warps", "integer", "executions", "executions by warps"),
        Column("threads", "integer", "executions", "executions by active threads"),
    ),
)


class InstructionMix(TraceGenerator):
    """Counts instructions by opcode and functional unit: static, executed by warps, and by threads. It looks at whole
    basic blocks, so a thread counts whether its guard holds or not.
    """

    name = "mix"
    blocks = True
    tables = (OPCODES,)

    def initialize(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.runs: dict[int, list[int]] = {}  # by basic block: warps, threads

    def event(self, event: TraceEvent) -> None:
        counts = self.runs.setdefault(event.basic_block.index, [0, 0])
        counts[0] += event.n_warps
        counts[1] += event.n_active

    def finish(self) -> None:
        by_opcode: dict[tuple[str, str], list[int]] = {}
        for block in self.kernel.basic_blocks:
            warps, threads = self.runs.get(block.index, (0, 0))
            for instruction in block.instructions:
                counts = by_opcode.setdefault((instruction.opcode, instruction.op.pipe), [0, 0, 0])
                for column, number in enumerate((1, warps, threads)):
                    counts[column] += number
        self.add_rows("opcodes", [(*key, *counts) for key, counts in sorted(by_opcode.items())])
