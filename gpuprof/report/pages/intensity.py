"""Operations a byte of the basic blocks that a row is in."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from gpuprof.correlate.works import BlockWork
from gpuprof.report.model import ChipFacts, Instruction


class Intensity(NamedTuple):
    """Arithmetic and traffic of the basic blocks that a row's instructions are in."""

    operations: int  # arithmetic, of every precision but int
    nbytes: int  # of global memory

    @property
    def operations_per_byte(self) -> float:
        """Infinite without such bytes."""
        return self.operations / self.nbytes if self.nbytes else float("inf")


def intensity_of(works: Sequence[BlockWork], instructions: Sequence[Instruction]) -> Intensity | None:
    """The intensity of the instructions' blocks; None where none has run or does arithmetic. `works` ascend; a
    block that has run is the last one that begins before or at its instruction.
    """
    starts = [work.pc for work in works]
    executed = [i.pc for i in instructions if i.cost.counters.inst_executed]
    blocks = {after - 1 for pc in executed if (after := bisect_right(starts, pc))}
    operations = sum(works[block].operations for block in blocks)
    return Intensity(operations, sum(works[block].nbytes for block in blocks)) if operations else None


def ridge(chip: ChipFacts) -> float | None:
    """Operations of f32 a byte of DRAM from which on the chip's arithmetic is its roof; None where a peak is not
    known.
    """
    arithmetic, memory = chip.peaks.get("f32"), chip.peaks.get("dram")
    return arithmetic.rate / memory.rate if arithmetic and memory else None
