"""Live registers along the executed instructions."""

from bisect import bisect_right
from collections import Counter

from gpuprof.isa.flow.liveness import Block, live_words
from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import Code, Kernel

LIVE = Table(
    "live",
    "instructions by the number of live registers before them",
    (
        Column("registers", "integer", "registers", "32-bit words that hold a value which may still be read"),
        Column("static", "integer", "instructions", "of basic blocks that have run"),
        Column("warps", "integer", "instructions", "executed by warps"),
    ),
)
POINTS = Table(
    "sync_points",
    "synchronisation points that have run, in the order of addresses",
    (
        Column("pc", "integer", "", "code address of the instruction"),
        Column("kind", "text", "", "kind of the instruction"),
        Column("registers", "integer", "registers", "live there, which a context switch would have to save"),
        Column("warps", "integer", "executions", "by warps"),
    ),
)
SYNCHRONISES = frozenset(
    ("barrier", "barrier_arrive", "barrier_vote", "cluster_barrier", "warp_sync", "fence", "mbarrier_wait",
     "copy_wait", "bulk_wait", "bulk_wait_read", "matrix_wait", "grid_wait")
)  # fmt: skip


class LiveRegisters(TraceGenerator):
    """Counts live registers along the executed instructions, and at barriers and other synchronisation points."""

    name = "live_registers"
    blocks = True
    tables = (LIVE, POINTS)

    def initialize(self, kernel: Kernel) -> None:
        self.kernel = kernel
        # Uniform registers belong to a warp, and are numbered after its threads' own.
        own = (1 << kernel.function.first_uniform_word) - 1
        self.live = [(words & own).bit_count() for words in words_of(kernel.code)]
        self.runs: Counter[int] = Counter()  # by basic block, of warps

    def event(self, event: TraceEvent) -> None:
        self.runs[event.basic_block.index] += event.n_warps

    def finish(self) -> None:
        static, executed = Counter(), Counter()
        for index, warps in sorted(self.runs.items()):
            for instruction in self.kernel.basic_blocks[index].instructions:
                registers = self.live[instruction.number]
                static[registers] += 1
                executed[registers] += warps
                if instruction.kind in SYNCHRONISES:
                    self.add_row("sync_points", instruction.pc, instruction.kind, registers, warps)
        self.add_rows("live", [(registers, static[registers], executed[registers]) for registers in sorted(static)])


def words_of(code: Code) -> list[int]:
    """For each instruction of a module, by number: the words that are live before it, as bits."""
    firsts = sorted(function.first for function in code.functions if function.count)
    blocks = [
        Block(
            [instruction.encoded for instruction in block.instructions],
            block.successors,
            block.callees,
            bisect_right(firsts, block.instructions[0].number),
        )
        for block in code.basic_blocks
    ]
    return live_words(blocks, [code.instructions[first].basic_block for first in firsts])
