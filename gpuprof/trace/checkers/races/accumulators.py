"""Registers that multiplications of a warp group write while its warps continue (PTX ISA, wgmma.mma_async): an
instruction that uses one must have waited for its group, except multiplications that add to it. The emulator has the
result at once.

A register that another instruction overwrites has another value. Values computed from an accumulator are tracked, and
count as used where they are stored, decide a branch or an address, or are multiplied: compilers move the computation
itself across the wait, which does not name registers. Stores to local memory, where compilers place variables, do not
count either.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpuprof.isa.encoding import Instruction as Encoded, Operand, reads, results_of, sources_of
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.kernel import Code, Instruction

WORDS = {"R": 1, "D": 2}  # of the register file that a register is
COMPUTES = "compute"  # the kind of instructions that only compute values of registers
ADDED_TO = "c"  # the slot of the addend of a multiplication: multiplications add in their order
COMMIT, WAIT = "matrix_commit", "matrix_wait"


class TooEarly(NamedTuple):
    """Instruction `at` of a warp uses a register that multiplication `other_at` writes; rows are those of the event."""

    row: int
    at: int
    other_at: int


class _Warp:
    """Words of the register file with the number of their group and of the instruction that writes them."""

    def __init__(self) -> None:
        self.n_groups = 0
        self.under_way: dict[int, tuple[int, int]] = {}


class Accumulators:
    def __init__(self) -> None:
        self._warps: dict[tuple[int, int], _Warp] = {}

    def act(self, event: TraceEvent) -> Iterator[TooEarly]:
        """Warps execute an instruction of `touching`, a commit or a wait."""
        instruction, masks = event.instruction, event.true_masks.tolist()
        if instruction.kind == "store" and all(access.space == "local" for access in event.accesses):
            return
        for row, key in enumerate(zip(event.block.tolist(), event.warp.tolist(), strict=True)):
            if masks[row]:
                yield from self._one(self._warps.setdefault(key, _Warp()), instruction, row)

    def forget(self, block: int) -> None:
        for key in [key for key in self._warps if key[0] == block]:
            del self._warps[key]

    def _one(self, warp: _Warp, instruction: Instruction, row: int) -> Iterator[TooEarly]:
        kind, encoded, under_way = instruction.kind, instruction.encoded, warp.under_way
        if kind == COMMIT:
            warp.n_groups += 1
        elif kind == WAIT:
            n_done = warp.n_groups - encoded.imm
            warp.under_way = {word: its for word, its in under_way.items() if its[0] >= n_done}
        elif under_way or kind == "matrix_async":
            its = max((under_way[word] for word in _used(instruction) if word in under_way), default=None)
            if its and kind != COMPUTES:
                yield TooEarly(row, instruction.number, its[1])
            if kind == "matrix_async":
                its = warp.n_groups, instruction.number
            elif kind != COMPUTES:
                its = None
            for word in _written(encoded):
                under_way.pop(word, None)
                if its:
                    under_way[word] = its


def touching(code: Code) -> frozenset[int]:
    """Numbers of the instructions that read or write a register that may contain a value derived from a
    multiplication.
    """
    words = {word for each in code.instructions if each.kind == "matrix_async" for word in _written(each.encoded)}
    if not words:
        return frozenset()
    touched = [
        (each, frozenset(_words(reads(each.encoded))), frozenset(_written(each.encoded))) for each in code.instructions
    ]
    n_words = 0
    while len(words) > n_words:
        n_words = len(words)
        for each, read, written in touched:
            if each.kind == COMPUTES and read & words:
                words |= written
    return frozenset(each.number for each, read, written in touched if (read | written) & words)


def _used(instruction: Instruction) -> Iterator[int]:
    """Words whose value an instruction needs."""
    for slot, operand in sources_of(instruction.encoded):
        if instruction.kind != "matrix_async" or slot != ADDED_TO:
            yield from _words([operand])


def _written(encoded: Encoded) -> Iterator[int]:
    return _words(operand for _, operand in results_of(encoded))


def _words(operands: Iterable[Operand]) -> Iterator[int]:
    for file, index, count in operands:
        size = WORDS.get(file, 0)
        yield from range(index * size, (index + count) * size)
