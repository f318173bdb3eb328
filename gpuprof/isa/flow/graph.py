"""Basic blocks of a program, and where control goes from each."""

from typing import NamedTuple

import numpy as np

from gpuprof.isa.encoding import PT, Instruction, decode
from gpuprof.isa.kinds import kinds_of
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.program import basic_block_starts

FALLS_AFTER_GUARD = kinds_of("branch", "exit", "return", "branch_indirect", "trap")


class BasicBlock(NamedTuple):
    index: int
    first: int  # instruction index
    instructions: tuple[Instruction, ...]

    @property
    def last(self) -> Instruction:
        return self.instructions[-1]

    @property
    def after(self) -> int:
        """Instruction index that follows the block."""
        return self.first + len(self.instructions)


def is_branch(opcode: str) -> bool:
    """True if instructions of this name jump to a place that they name; False for a name that is not ours."""
    return opcode in BY_NAME and BY_NAME[opcode].kind == "branch"


def branch_target(block: BasicBlock) -> int:
    """Instruction index that a block's last instruction, a branch or call, leads to."""
    return block.after + block.last.offset // 16


class Graph:
    """Blocks of a code array, decoded on first use."""

    def __init__(self, code: np.ndarray):
        self.code = code
        self.starts = basic_block_starts(code)
        self.ends = np.append(self.starts[1:], len(code))
        self.block_at = {int(start): index for index, start in enumerate(self.starts)}
        self._blocks: dict[int, BasicBlock] = {}

    def block(self, index: int) -> BasicBlock:
        cached = self._blocks.get(index)
        if cached is None:
            first, end = int(self.starts[index]), int(self.ends[index])
            cached = self._blocks[index] = BasicBlock(index, first, tuple(decode(row) for row in self.code[first:end]))
        return cached

    def at(self, instruction: int) -> int:
        """The block that has an instruction."""
        return int(np.searchsorted(self.starts, instruction, "right")) - 1

    def successors(self, index: int) -> list[int]:
        """Blocks of the same function that may run next."""
        block = self.block(index)
        last = block.last
        after = []
        if last.op.kind == "branch":
            after.append(branch_target(block))
        if last.op.kind not in FALLS_AFTER_GUARD or last.guard & PT != PT:
            after.append(block.after)
        return [self.block_at[at] for at in after if at in self.block_at]

    def callees(self, index: int) -> list[int]:
        block = self.block(index)
        return [self.block_at[branch_target(block)]] if block.last.op.kind == "call" else []
