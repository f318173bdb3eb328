"""Checker: the common part of all checkers. Errors are counted by instruction, and the first instance of each is
reported in detail.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.trace.event import WARP, TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import Instruction, Kernel


class GridThread(NamedTuple):
    """A thread: linear index of its block in the grid, and of the thread in the block."""

    block: int
    thread: int


class Instance(NamedTuple):
    """One occurrence of an error: fields of a finding."""

    text: str
    who: GridThread
    address: int = -1
    allocation: str = ""


class Checker(TraceGenerator):
    """Finds errors of a program."""

    is_checker = True

    def initialize(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.counts: dict[tuple[str, int, int], int] = {}  # by kind, code address and second one
        self.first: dict[tuple[str, int, int], Instance] = {}

    def is_new(self, kind: str, pc: int, other_pc: int = -1) -> bool:
        """True if no error of the kind was noted for this instruction: the caller then has to note a first instance."""
        return (kind, pc, other_pc) not in self.first

    def note(self, kind: str, instance: Instance, count: int, pc: int, other_pc: int = -1) -> None:
        """Counts `count` more errors of a kind; `instance` is stored if they are the first."""
        key = kind, pc, other_pc
        self.counts[key] = self.counts.get(key, 0) + count
        self.first.setdefault(key, instance)

    def more(self, kind: str, count: int, pc: int, other_pc: int = -1) -> None:
        """Counts `count` more errors of a kind that is not new."""
        self.counts[kind, pc, other_pc] += count

    def finish(self) -> None:
        for (kind, pc, other_pc), count in self.counts.items():
            text, who, address, allocation = self.first[kind, pc, other_pc]
            self.find(
                kind,
                "error",
                text,
                pc=pc,
                other_pc=other_pc,
                block=who.block,
                warp=who.thread // WARP if who.thread >= 0 else -1,
                thread=who.thread,
                address=address,
                allocation=allocation,
                count=count,
            )

    def thread_text(self, who: GridThread) -> str:
        return thread_text(self.kernel, who)


def thread_text(kernel: Kernel, who: GridThread) -> str:
    """ "thread (3, 0, 0) of block (1, 0, 0)" """
    (bx, by, _), (gx, gy, _) = kernel.block, kernel.grid
    block, thread = who
    x, y, z = thread % bx, thread // bx % by, thread // (bx * by)
    return f"thread ({x}, {y}, {z}) of block ({block % gx}, {block // gx % gy}, {block // (gx * gy)})"


def ptx_of(kernel: Kernel, instruction: Instruction) -> str:
    """The line of PTX that an instruction comes from; "" if it is unknown."""
    lines = kernel.code.ptx_lines
    return lines[instruction.ptx_line - 1] if 0 < instruction.ptx_line <= len(lines) else ""


def first_of(event: TraceEvent, lanes: np.ndarray) -> tuple[int, int, GridThread]:
    """Row, lane and thread of the first of some lanes, bool (n, 32)."""
    row, lane = divmod(int(np.flatnonzero(lanes)[0]), WARP)
    return row, lane, GridThread(int(event.block[row]), WARP * int(event.warp[row]) + lane)
