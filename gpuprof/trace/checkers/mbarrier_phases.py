"""The phases of the mbarrier objects of a launch, read from the words of the objects before and after each
operation.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpuprof.isa.families.cluster import OFFSET_MASK, RANK_SHIFT
from gpuprof.isa.families.mbarrier import Mbarrier, mbarrier_of_word
from gpuprof.isa.opcodes import numbers
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.kernel import Instruction, Kernel

INIT, INVAL = numbers("MBAR.INIT"), numbers("MBAR.INVAL")
WITH_PARITY = numbers("MBAR.TEST_WAIT.PARITY", "MBAR.TRY_WAIT.PARITY")


class MbarrierAddress(NamedTuple):
    """The location of an object: a block of the grid, and bytes from the start of its shared memory."""

    block: int
    offset: int


class Look(NamedTuple):
    """The state of an object at one time. `phase`: its current phase, counted from 0 at its initialisation."""

    key: MbarrierAddress
    phase: int
    object: Mbarrier


class Operation(NamedTuple):
    """An operation of a lane on an object, before or after its execution. `row`: of the event; `operand`: the
    instruction's b.
    """

    row: int
    lane: int
    look: Look
    operand: int


class Mbarriers:
    """The objects of one launch."""

    def __init__(self, kernel: Kernel):
        self._kernel = kernel
        self._phases: dict[int, dict[int, int]] = {}  # by block and offset

    def operations(self, event: TraceEvent) -> Iterator[Operation]:
        """The operations of an event of an mbarrier instruction, by lane."""
        if not event.accesses:
            return
        access = event.accesses[0]
        rows, lanes = np.nonzero(access.active)
        addresses = access.addresses[rows, lanes]
        operands = next((value.bits for value in event.operands if value.slot == "b"), None)
        words = event.shared_words(rows, addresses)
        for k, (row, lane, word) in enumerate(zip(rows.tolist(), lanes.tolist(), words.tolist(), strict=True)):
            key = self.key(int(event.block[row]), int(addresses[k]))
            yield Operation(row, lane, self._look(key, word), 0 if operands is None else int(operands[row, lane]))

    def key(self, block: int, address: int) -> MbarrierAddress:
        """The location of an address as seen by a block."""
        rank = address >> RANK_SHIFT
        owner = self._kernel.block_of_rank(np.array([block]), np.array([rank - 1]))[0] if rank else block
        return MbarrierAddress(int(owner), address & OFFSET_MASK)

    def begins(self, instruction: Instruction, key: MbarrierAddress) -> None:
        """An instruction is about to change an object: its initialisation resets the count of phases."""
        if instruction.encoded.op.number in INIT:
            self._phases.get(key.block, {}).pop(key.offset, None)

    def phase(self, key: MbarrierAddress) -> int:
        """The phase at the last look."""
        return self._phases.get(key.block, {}).get(key.offset, 0)

    def look(self, event: TraceEvent, row: int, address: int) -> Look:
        word = int(event.shared_words(np.array([row]), np.array([address]))[0])
        return self._look(self.key(int(event.block[row]), address), word)

    def _look(self, key: MbarrierAddress, word: int) -> Look:
        state, phase = mbarrier_of_word(word), self.phase(key)
        if phase & 1 != state.parity:
            phase += 1
        self._phases.setdefault(key.block, {})[key.offset] = phase
        return Look(key, phase, state)

    def forget(self, block: int) -> None:
        """Drops the objects of a block that has ended."""
        self._phases.pop(block, None)


def waited_phase(instruction: Instruction, operation: Operation) -> int:
    """The phase whose end a lane waits for."""
    by_parity = instruction.encoded.op.number in WITH_PARITY
    wanted = operation.operand & 1 if by_parity else operation.operand >> 63
    phase = operation.look.phase
    return phase if phase & 1 == wanted else phase - 1
