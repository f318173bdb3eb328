"""Constants, zeros and repeats among loaded and stored values."""

import numpy as np

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import Kernel

VALUES = Table(
    "values",
    "32-bit words that loads give and stores take",
    (
        Column("pc", "integer", "", "code address of the instruction"),
        Column("operation", "text", "", "load or store"),
        Column("space", "text", "", "state space of the instruction"),
        Column("words", "integer", "words", "loaded or stored by threads"),
        Column("zeros", "integer", "words", "that are zero"),
        Column("repeats", "integer", "words", "equal to the thread's previous word of this instruction"),
        Column("uniform", "integer", "words", "that are equal in all lanes of the warp"),
        Column("constant", "integer", "", "1: all of its words were equal"),
    ),
)


class Repeats(TraceGenerator):
    """Counts constants, zeros and repeats among the values that each line loads and stores."""

    name = "repeats"
    kinds = ("load", "store")
    tables = (VALUES,)
    values = True

    def initialize(self, kernel: Kernel) -> None:
        self.warps_per_block = kernel.warps_per_block
        self.n_warps = kernel.n_blocks * kernel.warps_per_block
        self.last: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}  # by pc and word: values, which are known
        self.counts: dict[tuple[int, str, str], np.ndarray] = {}
        self.constants: dict[int, int] = {}
        self.varying: set[int] = set()

    def post_event(self, event: TraceEvent) -> None:
        instruction, held = event.instruction, event.true
        if not held.any():
            return
        values = event.results if instruction.operation == "load" else stored(event)
        words = [word for value in values for word in words_of(value.bits)]
        rows = event.block * self.warps_per_block + event.warp
        counts = np.zeros(4, np.int64)
        for number, word in enumerate(words):
            counts += (
                np.count_nonzero(held),
                np.count_nonzero(held & (word == 0)),
                *self._compared((event.pc, number), rows, word, held),
            )
            self._note_constant(event.pc, word[held])
        key = event.pc, instruction.operation, instruction.space
        self.counts[key] = self.counts[key] + counts if key in self.counts else counts

    def _compared(self, key, rows: np.ndarray, word: np.ndarray, held: np.ndarray) -> tuple[int, int]:
        """Words that repeat, and words of uniform warps."""
        if key not in self.last:
            self.last[key] = np.zeros((self.n_warps, 32), np.uint32), np.zeros((self.n_warps, 32), bool)
        values, known = self.last[key]
        before, had = values[rows], known[rows]
        repeats = np.count_nonzero(held & had & (before == word))
        values[rows], known[rows] = np.where(held, word, before), had | held
        first = word[np.arange(len(word)), held.argmax(axis=1)]
        is_uniform = ((word == first[:, None]) | ~held).all(axis=1)
        return repeats, int(np.count_nonzero(held[is_uniform]))

    def _note_constant(self, pc: int, words: np.ndarray) -> None:
        if pc in self.varying:
            return
        one = self.constants.setdefault(pc, int(words[0]))
        if (words != one).any():
            self.varying.add(pc)

    def finish(self) -> None:
        for (pc, operation, space), counts in sorted(self.counts.items()):
            self.add_row("values", pc, operation, space, *counts, int(pc not in self.varying))
        self.last.clear()


def stored(event: TraceEvent) -> tuple:
    """The operands that a store writes: those that are not an address."""
    return tuple(value for value in event.operands if value.slot == "b")


def words_of(bits: np.ndarray) -> list[np.ndarray]:
    """uint32 (n, 32) each: the 32-bit words of 32-bit or 64-bit values."""
    if bits.dtype == np.uint64:
        return [(bits & np.uint64(0xFFFFFFFF)).astype(np.uint32), (bits >> np.uint64(32)).astype(np.uint32)]
    return [bits]
